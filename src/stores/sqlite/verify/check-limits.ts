import type { Database, Statement } from 'bun:sqlite'
import type { Finding } from '../../books/verify/findings.ts'
import {
  findingOfCount,
  findingsOfLimits,
  LIMITS_ACTION,
  LimitLines,
  type LimitedOwner,
  type LimitLine,
  type StoredLimits,
} from '../../books/verify/limits.ts'
import type { BooksOfAccounts } from '../account-books.ts'
import type { LimitSteps } from '../limits/limit-steps.ts'
import { isUsageRebuilt } from '../usage-days.ts'
import { inPieces } from './in-pieces.ts'

const LINES_A_TURN = 256
const ACCOUNTS_A_TURN = 64

/** Reads the changes of limits in the audit log, then accounts with theirs, each piece with the lines written since. */
export function* checkLimits(database: Database): Generator<readonly Finding[]> {
  const log = new LimitLog(database)
  while (log.read()) yield []
  const accounts = database.prepare<{ id: bigint }, [bigint, number]>(
    'SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?',
  )
  const owners = database.prepare<LimitedOwner, [bigint]>(
    `SELECT 'account' AS kind, id, public_id FROM accounts WHERE id = ?1
      UNION ALL SELECT 'project', id, public_id FROM projects WHERE account_id = ?1
      UNION ALL SELECT 'key', id, public_id FROM api_keys WHERE account_id = ?1`,
  )
  const limits = database.prepare<StoredLimits, [bigint]>(
    'SELECT kind, scope_id, model, terms FROM limits WHERE account_id = ?',
  )
  for (const piece of inPieces(accounts, ACCOUNTS_A_TURN, row => row.id)) {
    log.readAll()
    yield piece.flatMap(({ id }) =>
      findingsOfLimits({ id, owners: owners.all(id), rows: limits.all(id) }, log.lines),
    )
  }
}

/** The limits in memory of the accounts of a running store. */
export type LiveLimits = {
  readonly limits: Pick<LimitSteps, 'correctCounts'>
  readonly booksOfAccounts: Pick<BooksOfAccounts, 'limited'>
  readonly nowMs: () => number
}

/**
 * Compares what is counted in memory with the charges and the open requests and jobs, an account a turn, and corrects
 * it. Nothing is compared while the sums of an upgrade are not finished.
 */
export function* checkCounts(
  database: Database,
  { limits, booksOfAccounts, nowMs }: LiveLimits,
): Generator<readonly Finding[]> {
  if (!isUsageRebuilt(database)) return
  const owner = database.prepare<{ public_id: string }, [string, number]>(
    `SELECT public_id FROM accounts WHERE ?1 LIKE 'account%' AND id = ?2
      UNION ALL SELECT public_id FROM projects WHERE ?1 = 'project' AND id = ?2
      UNION ALL SELECT public_id FROM api_keys WHERE ?1 LIKE 'key%' AND id = ?2`,
  )
  for (const books of booksOfAccounts.limited())
    yield limits.correctCounts(books, nowMs()).map(wrong => {
      const { kind, id } = wrong.scope
      return findingOfCount(books.accountId, wrong, owner.get(kind, id)?.public_id ?? `${kind} ${id}`)
    })
}

/** Reads the lines of changed limits in their order. */
class LimitLog {
  readonly lines = new LimitLines()
  readonly #select: Statement<LimitLine, [bigint, number]>
  #lastId = -1n

  constructor(database: Database) {
    this.#select = database.prepare(
      `SELECT id, subject, detail FROM audit_log WHERE id > ? AND action LIKE '%${LIMITS_ACTION}' ORDER BY id LIMIT ?`,
    )
  }

  /** False if there are no more lines. */
  read(): boolean {
    const rows = this.#select.all(this.#lastId, LINES_A_TURN)
    for (const row of rows) this.lines.add(row)
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return rows.length === LINES_A_TURN
  }

  /** In the same turn as accounts, so that a change of this moment is in both. */
  readAll(): void {
    for (let hasMore = true; hasMore;) hasMore = this.read()
  }
}
