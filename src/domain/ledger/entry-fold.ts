import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { NO_BALANCES, type Balances, type Book } from './books.ts'
import { booksTouchedBy, type OperationKind } from './operation.ts'
import type { Entry } from './post.ts'

/** An operation as a store has it, with what belongs to it elsewhere. */
export type StoredOperation = {
  readonly id: bigint
  readonly accountId: number
  readonly kind: OperationKind
  /** The change of the account's available balance. */
  readonly amount: NanoUsd
  readonly entries: readonly Entry[]
  /** What it charged; zero for an operation that is no charge. */
  readonly cost: NanoUsd
}

/** An entry is named by its operation and its place there: `4.2` is the second of operation 4. */
export type WrongEntry = { readonly entryId: string; readonly message: string }

/**
 * Folds the entries of all books, operation by operation, from the first on and in order, and finds the first that cannot be.
 * Operations are numbered without a gap, so that one that was taken away is missed. Behind a wrong entry nothing is certain,
 * and nothing is folded any more.
 */
export class EntryFold {
  readonly #balances = new Map<number, Record<Book, NanoUsd>>()
  #lastOperationId = 0n
  #entries = 0
  #wrong: WrongEntry | undefined

  get wrong(): WrongEntry | undefined {
    return this.#wrong
  }

  /** All operations up to this one are right. */
  get lastOperationId(): bigint {
    return this.#lastOperationId
  }

  /** How many entries are right. */
  get entries(): number {
    return this.#entries
  }

  /** What an account's books must be, by its entries. */
  balancesOf(accountId: number): Balances {
    return this.#balances.get(accountId) ?? NO_BALANCES
  }

  add(operation: StoredOperation): void {
    if (this.#wrong !== undefined) return
    this.#wrong = this.#objectionTo(operation)
    if (this.#wrong !== undefined) return
    this.#lastOperationId = operation.id
    this.#entries += operation.entries.length
  }

  #objectionTo(operation: StoredOperation): WrongEntry | undefined {
    const next = this.#lastOperationId + 1n
    if (operation.id !== next) return wrong(next, 1, 'is missing')
    for (const [index, entry] of operation.entries.entries()) {
      const objection = this.#fold(entry, operation)
      if (objection !== undefined) return wrong(operation.id, index + 1, objection)
    }
    const objection = objectionToSums(operation)
    return objection === undefined
      ? undefined
      : wrong(operation.id, 1, `begins operation ${operation.id}, whose entries ${objection}`)
  }

  #fold({ book, amount, balanceAfter }: Entry, { accountId, kind }: StoredOperation): string | undefined {
    // Whatever stands in the file: a kind that does not exist touches nothing.
    const touchedBy: Readonly<Record<string, readonly Book[]>> = booksTouchedBy
    if (touchedBy[kind]?.includes(book) !== true) return `stands in "${book}", which no ${kind} touches`
    const balances = this.#balances.get(accountId) ?? { ...NO_BALANCES }
    this.#balances.set(accountId, balances)
    const expected = addUsd(balances[book], amount)
    if (expected !== balanceAfter) return `leaves ${balanceAfter} in "${book}", where ${expected} is due`
    balances[book] = expected
    return undefined
  }
}

function objectionToSums({ entries, amount: told, cost }: StoredOperation): string | undefined {
  let sum = ZERO
  let available = ZERO
  let revenue = ZERO
  for (const { book, amount } of entries) {
    sum = addUsd(sum, amount)
    if (book === 'available') available = amount
    if (book === 'revenue.text' || book === 'revenue.media') revenue = addUsd(revenue, amount)
  }
  if (sum !== 0n) return `sum to ${sum} and not to zero`
  if (available !== told) return `change the available balance by ${available} and not by ${told}`
  return revenue === cost ? undefined : `earn ${revenue} where the charge is ${cost}`
}

function wrong(operationId: bigint, place: number, objection: string): WrongEntry {
  const entryId = `${operationId}.${place}`
  return { entryId, message: `Entry ${entryId} ${objection}.` }
}
