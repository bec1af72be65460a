import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { NO_BALANCES, type Balances, type Book } from './books.ts'
import { booksTouchedBy, type OperationKind } from './operation.ts'
import type { Entry } from './post.ts'

/** An operation as it is stored, with the cost of its charge. */
export type StoredOperation = {
  readonly id: bigint
  readonly accountId: number
  /** 1 for the first operation of its account, without gaps. */
  readonly number: number
  readonly kind: OperationKind
  /** The change of the account's available balance. */
  readonly amount: NanoUsd
  readonly entries: readonly Entry[]
  /** The cost of its charge; zero for an operation without one. */
  readonly cost: NanoUsd
}

/** The name of an entry is its operation and its place there: `4.2` is the second entry of operation 4. */
export type WrongEntry = { readonly entryId: string; readonly message: string }

/**
 * Adds up the entries of all books, operation by operation and in order, and finds the first wrong one. After a wrong entry
 * nothing is certain, so nothing more is added.
 */
export class EntryFold {
  readonly #accounts = new Map<number, { readonly balances: Record<Book, NanoUsd>; operations: number }>()
  #lastOperationId = 0n
  #entries = 0
  #wrong: WrongEntry | undefined

  get wrong(): WrongEntry | undefined {
    return this.#wrong
  }

  /** The operations up to this one are right. */
  get lastOperationId(): bigint {
    return this.#lastOperationId
  }

  /** The number of right entries. */
  get entries(): number {
    return this.#entries
  }

  /** The balances of an account according to its entries. */
  balancesOf(accountId: number): Balances {
    return this.#accounts.get(accountId)?.balances ?? NO_BALANCES
  }

  add(operation: StoredOperation): void {
    if (this.#wrong !== undefined) return
    this.#wrong = this.#objectionTo(operation)
    if (this.#wrong !== undefined) return
    this.#lastOperationId = operation.id
    this.#entries += operation.entries.length
  }

  #objectionTo(operation: StoredOperation): WrongEntry | undefined {
    const { id, accountId, number } = operation
    const account = this.#accountOf(accountId)
    account.operations += 1
    if (number !== account.operations)
      return wrong(
        id,
        1,
        `begins operation ${number} of its account, where operation ${account.operations} is due`,
      )
    for (const [index, entry] of operation.entries.entries()) {
      const objection = this.#fold(entry, operation)
      if (objection !== undefined) return wrong(id, index + 1, objection)
    }
    const objection = objectionToSums(operation)
    return objection === undefined
      ? undefined
      : wrong(id, 1, `begins operation ${id}, whose entries ${objection}`)
  }

  #fold({ book, amount, balanceAfter }: Entry, { accountId, kind }: StoredOperation): string | undefined {
    // The stored kind can be any text: a kind that does not exist touches no book.
    const touchedBy: Readonly<Record<string, readonly Book[]>> = booksTouchedBy
    if (touchedBy[kind]?.includes(book) !== true) return `is in "${book}", which no ${kind} touches`
    const { balances } = this.#accountOf(accountId)
    const expected = addUsd(balances[book], amount)
    if (expected !== balanceAfter) return `leaves ${balanceAfter} in "${book}", where ${expected} is due`
    balances[book] = expected
    return undefined
  }

  #accountOf(accountId: number) {
    const account = this.#accounts.get(accountId) ?? { balances: { ...NO_BALANCES }, operations: 0 }
    this.#accounts.set(accountId, account)
    return account
  }
}

function objectionToSums({ entries, amount: stated, cost }: StoredOperation): string | undefined {
  let sum = ZERO
  let available = ZERO
  let revenue = ZERO
  for (const { book, amount } of entries) {
    sum = addUsd(sum, amount)
    if (book === 'available') available = amount
    if (book === 'revenue.text' || book === 'revenue.media') revenue = addUsd(revenue, amount)
  }
  if (sum !== 0n) return `sum to ${sum} and not to zero`
  if (available !== stated) return `change the available balance by ${available} and not by ${stated}`
  return revenue === cost ? undefined : `earn ${revenue} where the charge is ${cost}`
}

function wrong(operationId: bigint, place: number, objection: string): WrongEntry {
  const entryId = `${operationId}.${place}`
  return { entryId, message: `Entry ${entryId} ${objection}.` }
}
