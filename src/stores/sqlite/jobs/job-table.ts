import type { Database, Statement } from 'bun:sqlite'
import { formatId, type Id } from '../../../domain/ids.ts'
import { KEY_TTL_MS, type JobState } from '../../../domain/jobs/job.ts'
import type { JobEvent, NewJob } from '../../../gateway/ports/jobs.ts'
import { factsOf, progressColumns } from '../../books/jobs/job-facts.ts'
import type { JobProgress, JobRow } from '../../books/jobs/job-rows.ts'
import type { Tables } from '../hashed-table.ts'
import { sha256Of } from '../hashes.ts'

/** Old keys removed with each new one, so that the table does not grow. */
const REMOVED_KEYS_MAX = 8

/** The rows of jobs, of their events and of their idempotency keys. Methods that write are for use inside a step. */
export class JobTable {
  readonly #sql: ReturnType<typeof prepare>
  readonly #tables: Tables

  constructor(parts: { readonly database: Database; readonly tables: Tables }) {
    this.#sql = prepare(parts.database)
    this.#tables = parts.tables
  }

  find({ key, tail }: Id): JobRow | undefined {
    return this.#sql.find.get(key, tail) ?? undefined
  }

  /** Throws a RangeError for an unknown id. */
  row(id: Id): JobRow {
    const row = this.find(id)
    if (row === undefined) throw new RangeError(`There is no job ${formatId('op', id)}.`)
    return row
  }

  hasUpstreamId(provider: string, upstreamId: string): boolean {
    return this.#sql.findByUpstream.get(provider, upstreamId) !== null
  }

  insert(row: Omit<JobRow, 'row_id'>): JobRow {
    const rowId = this.#tables.jobs.insert(row)
    if (rowId === null)
      throw new Error(`The job id ${formatId('op', { key: row.id_key, tail: row.id_tail })} is in use.`)
    return { ...row, row_id: rowId }
  }

  /**
   * Writes the columns of a job that steps change. A state changes by compare-and-set: the update names the state that
   * the row had when it was read in the same step.
   */
  update(before: JobRow, after: JobRow): void {
    const values: SqlValues = progressColumns.map(column => after[column])
    const { changes } = this.#sql.update.run(...values, before.row_id, before.state)
    if (changes !== 1) throw new Error(`The job in row ${before.row_id} is not ${before.state} any more.`)
  }

  /** Adds an event, with the columns of the job after the step. `verify` compares them with the row. */
  note(row: JobRow, { state, detail, atMs }: JobEvent, idempotency?: NewJob['idempotency']): void {
    this.#tables.jobEvents.insert({
      job: row.row_id,
      state,
      detail,
      at_ms: atMs,
      facts: factsOf(row, sha256Of, idempotency),
    })
  }

  /** The events of a job, oldest first. */
  events({ row_id }: JobRow): readonly JobEvent[] {
    return this.#sql.events
      .all(row_id)
      .map(({ state, detail, at_ms }) => ({ state, detail, atMs: Number(at_ms) }))
  }

  /**
   * The job that an account made with an idempotency key. Throws an Error if the key names the job of another account,
   * which only an edit of the file can cause.
   */
  findByKey(accountId: number, key: string, nowMs: number): JobOfKey | undefined {
    const named = this.#sql.findKey.get(accountId, key, nowMs - KEY_TTL_MS)
    if (named === null) return undefined
    const row = this.#sql.rowAt.get(named.job)
    if (row?.account_id !== BigInt(accountId))
      throw new Error(
        `The idempotency key "${key}" names the job in row ${named.job}, which belongs to another account.`,
      )
    return { fingerprint: named.fingerprint, row }
  }

  insertKey(
    { row_id, account_id }: JobRow,
    { key, fingerprint }: { readonly key: string; readonly fingerprint: string },
    atMs: number,
  ): void {
    this.#sql.removeKeys.run(atMs - KEY_TTL_MS)
    this.#sql.insertKey.run(account_id, key, fingerprint, row_id, atMs)
  }
}

type JobOfKey = { readonly fingerprint: string; readonly row: JobRow }
type KeyRow = { readonly fingerprint: string; readonly job: bigint }
type EventRow = { state: JobState; detail: string | null; at_ms: bigint }
type SqlValues = JobProgress[keyof JobProgress][]

function prepare(database: Database) {
  const find: Statement<JobRow, [bigint, bigint]> = database.prepare(
    'SELECT * FROM jobs WHERE id_key = ? AND id_tail = ?',
  )
  const findByUpstream: Statement<unknown, [string, string]> = database.prepare(
    'SELECT 1 FROM jobs WHERE provider = ? AND upstream_id = ?',
  )
  const rowAt: Statement<JobRow, [bigint]> = database.prepare('SELECT * FROM jobs WHERE row_id = ?')
  const events: Statement<EventRow, [bigint]> = database.prepare(
    'SELECT state, detail, at_ms FROM job_events WHERE job = ? ORDER BY row_id',
  )
  const findKey: Statement<KeyRow, [number, string, number]> = database.prepare(
    'SELECT fingerprint, job FROM job_keys WHERE account_id = ? AND key = ? AND created_at_ms > ?',
  )
  return {
    find,
    findByUpstream,
    rowAt,
    events,
    findKey,
    update: database.prepare(
      `UPDATE jobs SET ${progressColumns.map(column => `${column} = ?`).join(', ')}
        WHERE row_id = ? AND state = ?`,
    ),
    insertKey: database.prepare(
      'INSERT OR REPLACE INTO job_keys (account_id, key, fingerprint, job, created_at_ms) VALUES (?, ?, ?, ?, ?)',
    ),
    removeKeys: database.prepare(
      `DELETE FROM job_keys WHERE (account_id, key) IN (
        SELECT account_id, key FROM job_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ${REMOVED_KEYS_MAX})`,
    ),
  }
}
