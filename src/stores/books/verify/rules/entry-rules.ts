import type { Book } from '../../../../domain/ledger/books.ts'
import { EntryFold, type WrongEntry } from '../../../../domain/ledger/entry-fold.ts'
import type { OperationKind } from '../../../../domain/ledger/operation.ts'
import type { Entry } from '../../../../domain/ledger/post.ts'
import { nanoUsd } from '../../../../domain/money.ts'
import { booksStateFrom, type BalancesRow } from '../../rows/operation-rows.ts'
import { balanceKey, findingOf, type Finding } from '../findings.ts'

/** An operation with the amounts and the time of the row that it belongs to. */
export type OperationRow = {
  id: bigint
  account_id: bigint
  number: bigint
  kind: OperationKind
  previous_id: bigint | null
  amount: bigint
  at_ms: bigint
  book_1: Book
  amount_1: bigint
  balance_after_1: bigint
  book_2: Book
  amount_2: bigint
  balance_after_2: bigint
  book_3: Book | null
  amount_3: bigint | null
  balance_after_3: bigint | null
  cost: bigint | null
  loss: bigint | null
  /** The amount of a refund. */
  refunded: bigint | null
  /** Its time of the row that it belongs to. A credit or an attempt has no such time of its own. */
  subject_at_ms: bigint | null
}

/** Adds up the entries of all operations, in their order, and follows the chain of each account. */
export class EntryCheck {
  readonly fold = new EntryFold()
  /** The latest operation of each account. */
  readonly #latest = new Map<number, bigint>()

  /** The row id of the latest operation of an account; null if it has none. */
  latestOf(accountId: number): bigint | null {
    return this.#latest.get(accountId) ?? null
  }

  /** Goes on after the operations of an account that an earlier check has read, with its balances after them. */
  goOn(row: BalancesRow): void {
    const accountId = Number(row.account_id)
    const state = booksStateFrom(row)
    this.fold.goOn(accountId, state)
    if (state.latestOperationId !== null) this.#latest.set(accountId, state.latestOperationId)
  }

  /** The first wrong entry of an account is a problem; the rest of that account is not checked. */
  add(row: OperationRow): Finding | undefined {
    const { id, kind } = row
    const accountId = Number(row.account_id)
    const latest = this.latestOf(accountId)
    this.#latest.set(accountId, id)
    if (this.fold.isWrong(accountId)) return undefined
    const wrong: WrongEntry | undefined =
      incompleteEntry(row) ??
      this.fold.add({
        id,
        number: Number(row.number),
        accountId,
        kind,
        amount: nanoUsd(row.amount),
        entries: entriesOf(row),
        cost: nanoUsd(row.cost ?? row.loss ?? -(row.refunded ?? 0n)),
      }) ??
      unfittingOperation(row, latest)
    if (wrong === undefined) return undefined
    this.fold.markWrong(accountId)
    const { entryId, problem, excess } = wrong
    const key = excess && balanceKey(accountId, `${excess.book} ${excess.amount}`)
    const finding = findingOf(accountId, `entry ${entryId} ${problem}`)
    return { ...finding, entryId, ...(key === undefined ? {} : { key }) }
  }
}

/** An operation that touches two books has no third entry, and no part of one. */
function incompleteEntry({ id, book_3, amount_3, balance_after_3 }: OperationRow) {
  const isThere = book_3 !== null
  const isComplete = (amount_3 !== null) === isThere && (balance_after_3 !== null) === isThere
  return isComplete ? undefined : { entryId: `${id}.3`, problem: 'is incomplete' }
}

/** An operation that does not match the previous one, or the row that it belongs to. */
function unfittingOperation(row: OperationRow, latest: bigint | null) {
  const problem = problemOfOperation(row, latest)
  return problem === undefined ? undefined : { entryId: `${row.id}.1`, problem }
}

function problemOfOperation(
  { kind, previous_id, subject_at_ms, at_ms }: OperationRow,
  latest: bigint | null,
): string | undefined {
  if (previous_id !== latest)
    return `begins an operation that names operation ${previous_id} as the one before it, but that is operation ${latest}`
  if (subject_at_ms === null) return `begins a ${kind} operation, but its ${subjectOf[kind]} is missing`
  return subject_at_ms === at_ms
    ? undefined
    : `begins a ${kind} operation at another time than its ${subjectOf[kind]}`
}

/** The kind of row that each kind of operation belongs to. */
const subjectOf = {
  top_up: 'credit',
  grant: 'credit',
  charge: 'charge',
  hold: 'hold',
  capture: 'hold',
  release: 'hold',
  expire: 'hold',
  compensation: 'attempt',
  debit: 'correction',
  refund: 'correction',
  loss: 'job',
} as const satisfies Record<OperationKind, string>

function entriesOf(row: OperationRow): readonly Entry[] {
  const entries = [
    { book: row.book_1, amount: nanoUsd(row.amount_1), balanceAfter: nanoUsd(row.balance_after_1) },
    { book: row.book_2, amount: nanoUsd(row.amount_2), balanceAfter: nanoUsd(row.balance_after_2) },
  ]
  const { book_3: book, amount_3: amount, balance_after_3: balanceAfter } = row
  if (book !== null && amount !== null && balanceAfter !== null)
    entries.push({ book, amount: nanoUsd(amount), balanceAfter: nanoUsd(balanceAfter) })
  return entries
}
