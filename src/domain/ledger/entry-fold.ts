import { addUsd, describeUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { NO_BALANCES, type Balances, type Book } from './books.ts'
import { booksTouchedBy, lossIn, type OperationKind } from './operation.ts'
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

/** A wrong entry: the second one of operation 4 has the id `4.2`. The problem is a sentence without its subject. */
export type WrongEntry = {
  readonly entryId: string
  readonly problem: string
  /**
   * The amount by which an entry left too much in its book. The next entry of that book after a wrong balance is off by
   * the same amount.
   */
  readonly excess?: { readonly book: Book; readonly amount: NanoUsd }
}

type AccountFold = {
  readonly balances: Record<Book, NanoUsd>
  bookedLosses: NanoUsd
  operations: number
  isWrong: boolean
}

/**
 * Adds up the entries of all books, operation by operation and in order, and finds the first wrong entry of each
 * account. After it nothing about the account is certain, so no more of its entries are added.
 */
export class EntryFold {
  readonly #accounts = new Map<number, AccountFold>()
  #entries = 0

  /** The number of correct entries. */
  get entries(): number {
    return this.#entries
  }

  /** The accounts that have operations. */
  get accountIds(): readonly number[] {
    return [...this.#accounts.keys()]
  }

  /** The balances of an account according to its entries. */
  balancesOf(accountId: number): Balances {
    return this.#accounts.get(accountId)?.balances ?? NO_BALANCES
  }

  /** The sum of an account's loss operations. */
  lossesOf(accountId: number): NanoUsd {
    return this.#accounts.get(accountId)?.bookedLosses ?? ZERO
  }

  /** The number of operations of an account. */
  operationsOf(accountId: number): number {
    return this.#accounts.get(accountId)?.operations ?? 0
  }

  isWrong(accountId: number): boolean {
    return this.#accounts.get(accountId)?.isWrong ?? false
  }

  /** Goes on after the operations of an account that an earlier fold has added. */
  goOn(
    accountId: number,
    after: { readonly balances: Balances; readonly bookedLosses: NanoUsd; readonly operationCount: number },
  ): void {
    const { balances, bookedLosses, operationCount: operations } = after
    this.#accounts.set(accountId, { balances: { ...balances }, bookedLosses, operations, isWrong: false })
  }

  /** Adds no more entries of an account, because a caller found it wrong. */
  markWrong(accountId: number): void {
    this.#accountOf(accountId).isWrong = true
  }

  /** Returns the wrong entry if the operation has one and is the first wrong one of its account. */
  add(operation: StoredOperation): WrongEntry | undefined {
    const account = this.#accountOf(operation.accountId)
    if (account.isWrong) return undefined
    account.operations += 1
    account.bookedLosses = addUsd(account.bookedLosses, lossIn(operation.kind, operation.entries))
    const wrong = wrongNumber(operation, account) ?? fold(operation, account) ?? wrongSums(operation)
    if (wrong === undefined) this.#entries += operation.entries.length
    else account.isWrong = true
    return wrong
  }

  #accountOf(accountId: number): AccountFold {
    const known = this.#accounts.get(accountId)
    if (known !== undefined) return known
    const account = { balances: { ...NO_BALANCES }, bookedLosses: ZERO, operations: 0, isWrong: false }
    this.#accounts.set(accountId, account)
    return account
  }
}

function wrongNumber({ id, number }: StoredOperation, { operations }: AccountFold): WrongEntry | undefined {
  if (number === operations) return undefined
  return wrong(id, 1, `begins operation ${number} of the account, but operation ${operations} is next`)
}

function fold({ id, kind, entries }: StoredOperation, { balances }: AccountFold): WrongEntry | undefined {
  // The stored kind can be any text: a kind that does not exist touches no book.
  const touchedBy: Readonly<Record<string, readonly Book[]>> = booksTouchedBy
  for (const [index, { book, amount, balanceAfter }] of entries.entries()) {
    if (touchedBy[kind]?.includes(book) !== true)
      return wrong(id, index + 1, `is in "${book}", but a ${kind} does not touch that book`)
    const expected = addUsd(balances[book], amount)
    if (expected !== balanceAfter)
      return {
        ...wrong(
          id,
          index + 1,
          `leaves ${describeUsd(balanceAfter)} in "${book}", but ${describeUsd(expected)} is correct`,
        ),
        excess: { book, amount: subtractUsd(balanceAfter, expected) },
      }
    balances[book] = expected
  }
  return undefined
}

function wrongSums({ id, entries, amount: stated, cost }: StoredOperation): WrongEntry | undefined {
  let sum = ZERO
  let available = ZERO
  let revenue = ZERO
  for (const { book, amount } of entries) {
    sum = addUsd(sum, amount)
    if (book === 'available') available = amount
    if (book === 'revenue.text' || book === 'revenue.media') revenue = addUsd(revenue, amount)
  }
  if (sum !== 0n)
    return wrong(id, 1, `begins an operation whose entries add up to ${describeUsd(sum)} instead of zero`)
  if (available !== stated)
    return wrong(
      id,
      1,
      `begins an operation that states a change of ${describeUsd(stated)}, but its entries change the available balance by ${describeUsd(available)}`,
    )
  if (revenue !== cost)
    return wrong(
      id,
      1,
      `begins an operation that earns ${describeUsd(revenue)}, but its charge is ${describeUsd(cost)}`,
    )
  return undefined
}

function wrong(operationId: bigint, place: number, problem: string): WrongEntry {
  return { entryId: `${operationId}.${place}`, problem }
}
