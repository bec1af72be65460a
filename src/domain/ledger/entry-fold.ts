import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { NO_BALANCES, type Balances, type Book } from './books.ts'
import { booksTouchedBy, type OperationKind } from './operation.ts'

/** An entry as a store has it, with what its operation says of itself. */
export type StoredEntry = {
  readonly id: bigint
  readonly operationId: bigint
  readonly book: Book
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
  /** Null where there is no such operation. */
  readonly operation: OperationSummary | null
}

export type OperationSummary = {
  readonly accountId: number
  readonly kind: OperationKind
  /** The change of the account's available balance. */
  readonly amount: NanoUsd
  /** What it charged; zero for an operation that is no charge. */
  readonly cost: NanoUsd
}

export type WrongEntry = { readonly entryId: bigint; readonly message: string }

/**
 * Folds the entries of all books, from the first on and in order, and finds the first that cannot be. Entries and operations
 * are both numbered without a gap, so that one that was taken away is missed. Behind a wrong entry nothing is certain, and
 * nothing is folded any more.
 */
export class EntryFold {
  readonly #balances = new Map<number, Record<Book, NanoUsd>>()
  #lastEntryId = 0n
  #operation: FoldedOperation = { ...NOTHING_FOLDED }
  #wrong: WrongEntry | undefined

  get wrong(): WrongEntry | undefined {
    return this.#wrong
  }

  /** All entries up to this one are right. */
  get lastEntryId(): bigint {
    return this.#lastEntryId
  }

  /** What an account's books must be, by its entries. */
  balancesOf(accountId: number): Balances {
    return this.#balances.get(accountId) ?? NO_BALANCES
  }

  add(entry: StoredEntry): void {
    if (this.#wrong !== undefined) return
    const message = this.#objectionTo(entry)
    if (message !== undefined) this.#wrong = message
    else this.#lastEntryId = entry.id
  }

  /** To be called when all entries were added: the last operation must be whole. */
  end(): void {
    this.#wrong ??= this.#objectionToOperation()
  }

  #objectionTo(entry: StoredEntry): WrongEntry | undefined {
    const { id, operationId, operation } = entry
    if (id !== this.#lastEntryId + 1n) return wrong(this.#lastEntryId + 1n, 'is missing')
    if (operation === null) return wrong(id, `belongs to operation ${operationId}, which does not exist`)
    if (operationId !== this.#operation.id) {
      const objection = this.#objectionToOperation()
      if (objection !== undefined) return objection
      const next = this.#operation.id + 1n
      if (operationId !== next)
        return wrong(id, `belongs to operation ${operationId}, where those of operation ${next} should stand`)
      this.#operation = { ...NOTHING_FOLDED, id: operationId, firstEntryId: id, summary: operation }
    }
    return this.#fold(entry, operation)
  }

  #fold(
    { id, book, amount, balanceAfter }: StoredEntry,
    { accountId, kind }: OperationSummary,
  ): WrongEntry | undefined {
    // Whatever stands in the file: a kind that does not exist touches nothing.
    const touchedBy: Readonly<Record<string, readonly Book[]>> = booksTouchedBy
    if (touchedBy[kind]?.includes(book) !== true)
      return wrong(id, `stands in "${book}", which no ${kind} touches`)
    const balances = this.#balances.get(accountId) ?? { ...NO_BALANCES }
    this.#balances.set(accountId, balances)
    const expected = addUsd(balances[book], amount)
    if (expected !== balanceAfter)
      return wrong(id, `leaves ${balanceAfter} in "${book}", where ${expected} is due`)
    balances[book] = expected
    const operation = this.#operation
    operation.sum = addUsd(operation.sum, amount)
    if (book === 'available') operation.available = addUsd(operation.available, amount)
    if (book === 'revenue.text' || book === 'revenue.media')
      operation.revenue = addUsd(operation.revenue, amount)
    return undefined
  }

  #objectionToOperation(): WrongEntry | undefined {
    const { id, firstEntryId, summary, sum, available, revenue } = this.#operation
    const begins = `begins operation ${id}, whose entries`
    if (sum !== 0n) return wrong(firstEntryId, `${begins} sum to ${sum} and not to zero`)
    if (available !== summary.amount)
      return wrong(
        firstEntryId,
        `${begins} change the available balance by ${available} and not by ${summary.amount}`,
      )
    if (revenue !== summary.cost)
      return wrong(firstEntryId, `${begins} earn ${revenue} where the charge is ${summary.cost}`)
    return undefined
  }
}

type FoldedOperation = {
  readonly id: bigint
  readonly firstEntryId: bigint
  readonly summary: OperationSummary
  sum: NanoUsd
  available: NanoUsd
  revenue: NanoUsd
}

const NOTHING_FOLDED: FoldedOperation = {
  id: 0n,
  firstEntryId: 0n,
  summary: { accountId: 0, kind: 'charge', amount: ZERO, cost: ZERO },
  sum: ZERO,
  available: ZERO,
  revenue: ZERO,
}

function wrong(entryId: bigint, objection: string): WrongEntry {
  return { entryId, message: `Entry ${entryId} ${objection}.` }
}
