import type { Database, Statement } from 'bun:sqlite'
import type { Book } from '../../../domain/ledger/books.ts'
import { EntryFold } from '../../../domain/ledger/entry-fold.ts'
import type { OperationKind } from '../../../domain/ledger/operation.ts'
import type { Entry } from '../../../domain/ledger/post.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'

/** About a millisecond of work. */
const OPERATIONS_A_TURN = 128

/** Where an account's chains must end, by its operations. */
export type ChainEnds = {
  readonly operationId: bigint
  /** The last operation that a charge has; null before the first. */
  readonly chargeOperationId: bigint | null
}

/** Reads the operations in order, folds their entries, and follows each account's chain. */
export class EntryReader {
  readonly fold = new EntryFold()
  readonly #select: Statement<OperationRow, [bigint, number]>
  readonly #ends = new Map<number, ChainEnds>()
  #problem: Problem | undefined

  constructor(database: Database) {
    this.#select = database.prepare(SELECT)
  }

  /** All entries up to now, in pieces. The first wrong one is a problem, and nothing is read behind it. */
  *check(): Generator<readonly Problem[]> {
    while (this.#read() === OPERATIONS_A_TURN) yield []
    yield this.#problem === undefined ? [] : [this.#problem]
  }

  /** Reads what was written since, which is little: turns are short. False where an entry is wrong. */
  catchUp(): boolean {
    while (this.#read() === OPERATIONS_A_TURN) continue
    return this.#problem === undefined
  }

  /** Null for an account without operations. */
  endsOf(accountId: number): ChainEnds | null {
    return this.#ends.get(accountId) ?? null
  }

  /** How many it read; none behind a wrong one. */
  #read(): number {
    if (this.#problem !== undefined) return 0
    const rows = this.#select.all(this.fold.lastOperationId, OPERATIONS_A_TURN)
    for (const row of rows) {
      this.#problem = this.#add(row)
      if (this.#problem !== undefined) break
    }
    return rows.length
  }

  #add(row: OperationRow): Problem | undefined {
    const { id, kind } = row
    const accountId = Number(row.account_id)
    const cost = nanoUsd(row.cost ?? row.late_cost ?? 0n)
    if (!isThirdWhole(row)) return { entryId: `${id}.3`, message: `Entry ${id}.3 is not whole.` }
    this.fold.add({
      id,
      number: Number(row.number),
      accountId,
      kind,
      amount: nanoUsd(row.amount),
      entries: entriesOf(row),
      cost,
    })
    if (this.fold.wrong !== undefined) return this.fold.wrong

    const ends = this.#ends.get(accountId)
    // A capture that costs nothing has an operation, which frees its hold, and its charge has none.
    const isCharge = row.cost !== null
    this.#ends.set(accountId, {
      operationId: id,
      chargeOperationId: isCharge ? id : (ends?.chargeOperationId ?? null),
    })
    const latest = ends?.operationId ?? null
    const objection = objectionTo(row, latest)
    if (objection === undefined) return undefined
    return { entryId: `${id}.1`, message: `Entry ${id}.1 begins operation ${id}, ${objection}.` }
  }
}

function objectionTo(row: OperationRow, latest: bigint | null): string | undefined {
  if (row.previous_id !== latest) return `which follows ${row.previous_id} where ${latest} came before`
  if (row.subject_at_ms === null) return `a ${row.kind} that nothing knows of`
  return row.subject_at_ms === row.at_ms ? undefined : `a ${row.kind} of another time than what it is of`
}

/** Where two books were touched there is no third entry, and nothing of one. */
function isThirdWhole({ book_3, amount_3, balance_after_3 }: OperationRow): boolean {
  const isThere = book_3 !== null
  return (amount_3 !== null) === isThere && (balance_after_3 !== null) === isThere
}

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
 * `cost` is what the operation must earn. `subject_at_ms` is the time of the operation according to its subject; the subjects of
 * credits and compensations have no time of their own.
 */
const SELECT = `SELECT *,
    CASE WHEN kind IN ('charge', 'capture')
      THEN (SELECT cost FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
        AND charges.operation_id = operations.id) END AS cost,
    CASE WHEN kind = 'late_completion'
      THEN (SELECT late_cost FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
        AND late_by = operations.id) END AS late_cost,
    CASE
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
      WHEN kind = 'late_completion'
        THEN (SELECT late_at_ms FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
          AND late_by = operations.id)
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
  late_cost: bigint | null
  subject_at_ms: bigint | null
}
