import type { Database, Statement } from 'bun:sqlite'
import type { Book } from '../../../domain/ledger/books.ts'
import { EntryFold, type WrongEntry } from '../../../domain/ledger/entry-fold.ts'
import type { OperationKind } from '../../../domain/ledger/operation.ts'
import type { Entry } from '../../../domain/ledger/post.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { AccountNames } from './account-names.ts'
import { balanceKey, type Finding } from './finding.ts'

/** About a millisecond of work. */
const OPERATIONS_A_TURN = 128

/** Reads the operations in order, adds up their entries, and follows the chain of each account. */
export class EntryReader {
  readonly fold = new EntryFold()
  readonly #names: AccountNames
  readonly #select: Statement<OperationRow, [bigint, number]>
  /** The latest operation of each account. */
  readonly #latest = new Map<number, bigint>()
  #lastId = 0n

  constructor(database: Database, names: AccountNames) {
    this.#names = names
    this.#select = database.prepare(SELECT)
  }

  /**
   * Checks all entries, in pieces. The first wrong entry of an account is a problem; the rest of that account is not
   * read.
   */
  *check(): Generator<readonly Finding[]> {
    for (;;) {
      const { problems, isDone } = this.#read()
      yield problems
      if (isDone) return
    }
  }

  /** Reads what was written since, in the same turn of the event loop. */
  catchUp(): readonly Finding[] {
    const found: Finding[] = []
    for (;;) {
      const { problems, isDone } = this.#read()
      found.push(...problems)
      if (isDone) return found
    }
  }

  /** The row id of the latest operation of an account; null if it has none. */
  latestOf(accountId: number): bigint | null {
    return this.#latest.get(accountId) ?? null
  }

  #read(): { readonly problems: readonly Finding[]; readonly isDone: boolean } {
    const rows = this.#select.all(this.#lastId, OPERATIONS_A_TURN)
    const problems = rows.flatMap(row => this.#add(row) ?? [])
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return { problems, isDone: rows.length < OPERATIONS_A_TURN }
  }

  #add(row: OperationRow): Finding | undefined {
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
    const message = `${this.#names.of(accountId)}: entry ${entryId} ${problem}.`
    const key = excess && balanceKey(accountId, `${excess.book} ${excess.amount}`)
    return { accountId, entryId, message, ...(key === undefined ? {} : { key }) }
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
  const problem = problemOf(row, latest)
  return problem === undefined ? undefined : { entryId: `${row.id}.1`, problem }
}

function problemOf(
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

/**
 * `subject_at_ms` is the time of the row that an operation belongs to. A credit or an attempt has no such time of its
 * own.
 */
const SELECT = `SELECT *,
    CASE WHEN kind IN ('charge', 'capture')
      THEN (SELECT cost FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
        AND charges.operation_id = operations.id) END AS cost,
    CASE WHEN kind = 'loss'
      THEN (SELECT loss FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
        AND loss_by = operations.id) END AS loss,
    CASE WHEN kind = 'refund'
      THEN (SELECT amount FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
        AND corrections.operation_id = operations.id) END AS refunded,
    CASE
      WHEN kind IN ('debit', 'refund')
        THEN (SELECT operations.at_ms FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
          AND corrections.operation_id = operations.id AND corrections.amount = abs(operations.amount)
          AND (charge_id IS NULL) = (kind = 'debit'))
      WHEN kind IN ('top_up', 'grant')
        THEN (SELECT operations.at_ms FROM credits WHERE id_key = subject_key AND id_tail = subject_tail
          AND credits.operation_id = operations.id AND credits.amount = operations.amount)
      WHEN kind = 'charge'
        THEN ifnull((SELECT at_ms FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
          AND charges.operation_id = operations.id), operations.at_ms)
      WHEN kind = 'hold'
        THEN (SELECT placed_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND placed_by = operations.id)
      WHEN kind IN ('capture', 'release', 'expire')
        THEN (SELECT resolved_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND resolved_by = operations.id)
      WHEN kind = 'compensation'
        THEN (SELECT operations.at_ms FROM attempts WHERE request_key = subject_key AND request_tail = subject_tail
          AND compensated_by = operations.id)
      WHEN kind = 'loss'
        THEN (SELECT loss_at_ms FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
          AND loss_by = operations.id)
      ELSE operations.at_ms
    END AS subject_at_ms
  FROM operations WHERE id > ? ORDER BY id LIMIT ?`

type OperationRow = {
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
  subject_at_ms: bigint | null
}
