import type { Database, Statement } from 'bun:sqlite'
import type { Book } from '../../../domain/ledger/books.ts'
import { EntryFold } from '../../../domain/ledger/entry-fold.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import type { OperationKind } from '../../../domain/ledger/operation.ts'

/** About a millisecond of work. */
const ENTRIES_A_TURN = 256

/** Reads the entries in order, folds them, and follows each account's chain of operations. */
export class EntryReader {
  readonly fold = new EntryFold()
  readonly #select: Statement<EntryRow, [bigint, number]>
  readonly #latestOperationIds = new Map<number, bigint>()
  #problem: Problem | undefined

  constructor(database: Database) {
    this.#select = database.prepare(SELECT)
  }

  /** All entries up to now, in pieces. The first wrong one is a problem, and nothing is read behind it. */
  *check(): Generator<readonly Problem[]> {
    while (this.#read() === ENTRIES_A_TURN) yield []
    this.fold.end()
    const wrong = this.fold.wrong
    if (wrong !== undefined) this.#problem ??= { entryId: String(wrong.entryId), message: wrong.message }
    yield this.#problem === undefined ? [] : [this.#problem]
  }

  /** Reads what was written since, which is little: turns are short. False where an entry is wrong. */
  catchUp(): boolean {
    while (this.#read() === ENTRIES_A_TURN) continue
    return this.#problem === undefined && this.fold.wrong === undefined
  }

  latestOperationIdOf(accountId: number): bigint | null {
    return this.#latestOperationIds.get(accountId) ?? null
  }

  /** How many it read; none behind a wrong one. */
  #read(): number {
    if (this.#problem !== undefined || this.fold.wrong !== undefined) return 0
    const rows = this.#select.all(this.fold.lastEntryId, ENTRIES_A_TURN)
    for (const row of rows) this.#add(row)
    return rows.length
  }

  #add(row: EntryRow): void {
    const { id, operation_id: operationId, book } = row
    const accountId = Number(row.account_id)
    this.fold.add({
      id,
      operationId,
      book,
      amount: nanoUsd(row.amount),
      balanceAfter: nanoUsd(row.balance_after),
      operation:
        row.account_id === null
          ? null
          : {
              accountId,
              kind: row.kind,
              amount: nanoUsd(row.operation_amount),
              cost: nanoUsd(row.cost ?? 0n),
            },
    })
    if (this.fold.wrong !== undefined) return
    const latest = this.latestOperationIdOf(accountId)
    if (latest === operationId) return
    this.#latestOperationIds.set(accountId, operationId)
    const object = (objection: string) => {
      this.#problem ??= {
        entryId: String(id),
        message: `Entry ${id} begins operation ${operationId}, ${objection}.`,
      }
    }
    if (row.previous_id !== latest) object(`which follows ${row.previous_id} where ${latest} came before`)
    if (row.has_subject === 0n) object(`a ${row.kind} that nothing knows of`)
  }
}

const SELECT = `SELECT entries.*, account_id, kind, previous_id, operations.amount AS operation_amount,
    CASE WHEN kind IN ('charge', 'capture')
      THEN (SELECT cost FROM charges WHERE charges.id = subject_key AND charges.operation_id = operations.id) END AS cost,
    CASE
      WHEN kind IN ('top_up', 'grant')
        THEN EXISTS (SELECT 1 FROM credits WHERE credits.id = subject_key AND credits.operation_id = operations.id
          AND credits.amount = operations.amount)
      WHEN kind = 'hold'
        THEN EXISTS (SELECT 1 FROM holds WHERE holds.id = subject_key AND placed_by = operations.id)
      WHEN kind IN ('capture', 'release')
        THEN EXISTS (SELECT 1 FROM holds WHERE holds.id = subject_key AND resolved_by = operations.id)
      WHEN kind = 'compensation'
        THEN EXISTS (SELECT 1 FROM attempts WHERE request_key = subject_key AND compensated_by = operations.id)
      ELSE 1
    END AS has_subject
  FROM entries LEFT JOIN operations ON operations.id = operation_id
  WHERE entries.id > ? ORDER BY entries.id LIMIT ?`

type EntryRow = {
  id: bigint
  operation_id: bigint
  book: Book
  amount: bigint
  balance_after: bigint
  /** Null, with all the rest, where there is no such operation. */
  account_id: bigint | null
  kind: OperationKind
  previous_id: bigint | null
  operation_amount: bigint
  cost: bigint | null
  has_subject: bigint
}
