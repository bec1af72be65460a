import type { Id } from '../../../domain/ids.ts'
import type { Balances, Book } from '../../../domain/ledger/books.ts'
import { lossIn, type OperationKind } from '../../../domain/ledger/operation.ts'
import type { Entry, Movement } from '../../../domain/ledger/post.ts'
import type { BalanceAlert } from '../../../domain/webhooks/event.ts'
import { addUsd, nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { NewRow } from './hashed-table.ts'
import type { operationsTable } from './money-tables.ts'

/** The balances of an account's books, and the ends of its chains of operations and charges. */
export type BooksState = {
  readonly balances: Balances
  /** The sum of its loss operations. */
  readonly bookedLosses: NanoUsd
  /** The number of its operations, which is the number of the latest one. */
  readonly operationCount: number
  readonly latestOperationId: bigint | null
  readonly latestChargeId: bigint | null
  /** A closed account takes no credits and no holds. */
  readonly isClosed: boolean
  /** Null unless the account is told of a low balance. */
  readonly alert: BalanceAlert | null
}

/** The state that the steps of a transaction change, one after the other. */
export type StagedBooks = {
  readonly balances: Record<Book, NanoUsd>
  bookedLosses: NanoUsd
  operationCount: number
  latestOperationId: bigint | null
  latestChargeId: bigint | null
  isClosed: boolean
  alert: BalanceAlert | null
}

/** The books of one account as a step of a transaction sees them. */
export type AccountState = {
  readonly accountId: number
  readonly current: BooksState
  /** The sum of its open text holds, whose money is still in `available`. */
  readonly heldText: NanoUsd
  /** The money that can be spent or held now. */
  readonly free: NanoUsd
}

/** The books of one account that a step may change. They stay as they are until the transaction ends. */
export type StepBooks = AccountState & {
  /** The state that the step changes. It is written once, before the commit. */
  stage(): StagedBooks
  /** The row id that the next operation gets. The step must write that operation, or none, before it asks again. */
  nextOperationId(): bigint
}

export type Operation = {
  readonly kind: OperationKind
  /** The caller's id of the credit, hold or charge that the operation belongs to. */
  readonly subject: Id
  readonly movements: readonly Movement[]
  readonly atMs: number
}

/** The row of an operation. Null for an operation without entries, which is not written. */
export function operationRow(
  { accountId, current }: Pick<AccountState, 'accountId' | 'current'>,
  { kind, subject, atMs }: Operation,
  entries: readonly Entry[],
): NewRow<typeof operationsTable> | null {
  const [first, second, third] = entries
  if (first === undefined || second === undefined) return null
  if (entries.length > 3)
    throw new Error(`A ${kind} touches ${entries.length} books; a row has room for three.`)
  return {
    account_id: accountId,
    number: current.operationCount + 1,
    previous_id: current.latestOperationId,
    kind,
    subject_key: subject.key,
    subject_tail: subject.tail,
    amount: availableIn(entries),
    at_ms: atMs,
    book_1: first.book,
    amount_1: first.amount,
    balance_after_1: first.balanceAfter,
    book_2: second.book,
    amount_2: second.amount,
    balance_after_2: second.balanceAfter,
    book_3: third?.book ?? null,
    amount_3: third?.amount ?? null,
    balance_after_3: third?.balanceAfter ?? null,
  }
}

/** Changes the books to their state after an operation with this row id. */
export function addOperation(
  books: StagedBooks,
  id: bigint,
  kind: OperationKind,
  entries: readonly Entry[],
): void {
  for (const { book, balanceAfter } of entries) books.balances[book] = balanceAfter
  books.bookedLosses = addUsd(books.bookedLosses, lossIn(kind, entries))
  books.operationCount += 1
  books.latestOperationId = id
}

/** The row id of an operation with these movements, if it gets `nextId`. Null if it moves nothing. */
export function operationIdOf(movements: readonly Movement[], nextId: bigint): bigint | null {
  return movements.some(({ amount }) => amount > 0n) ? nextId : null
}

/** The change of the account's available balance. */
function availableIn(entries: readonly Entry[]): NanoUsd {
  for (const { book, amount } of entries) if (book === 'available') return amount
  return ZERO
}

export type BalancesRow = {
  account_id: bigint
  available: bigint
  held_text: bigint
  held_media: bigint
  cash: bigint
  promotions: bigint
  revenue_text: bigint
  revenue_media: bigint
  losses: bigint
  booked_losses: bigint
  operation_count: bigint
  latest_operation_id: bigint | null
  latest_charge_id: bigint | null
}

/** The columns of the row of the account and of its alert, besides those of its balances. */
export type AccountColumns = { is_closed: bigint; below: bigint | null; is_low: bigint | null }

const NEITHER: AccountColumns = { is_closed: 0n, below: null, is_low: null }

export function booksStateFrom(
  row: BalancesRow,
  { is_closed: isClosed, below, is_low: isLow }: AccountColumns = NEITHER,
): BooksState {
  return {
    balances: {
      available: nanoUsd(row.available),
      'held.text': nanoUsd(row.held_text),
      'held.media': nanoUsd(row.held_media),
      cash: nanoUsd(row.cash),
      promotions: nanoUsd(row.promotions),
      'revenue.text': nanoUsd(row.revenue_text),
      'revenue.media': nanoUsd(row.revenue_media),
      losses: nanoUsd(row.losses),
    },
    bookedLosses: nanoUsd(row.booked_losses),
    operationCount: Number(row.operation_count),
    latestOperationId: row.latest_operation_id,
    latestChargeId: row.latest_charge_id,
    isClosed: isClosed === 1n,
    alert: below === null ? null : { below: nanoUsd(below), isLow: isLow === 1n },
  }
}
