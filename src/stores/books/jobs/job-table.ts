import { formatId, type Id } from '../../../domain/ids.ts'
import { KEY_TTL_MS, type JobState } from '../../../domain/jobs/job.ts'
import type { JobEvent, NewJob } from '../../../gateway/ports/media/jobs.ts'
import { all, first, insert, run, type Step } from '../steps.ts'
import { jobEventsTable, jobsTable } from '../rows/work-tables.ts'
import { factsOf, progressColumns, type HashText } from './job-facts.ts'
import type { JobProgress, JobRow } from './job-rows.ts'

// The rows of jobs, of their events and of their idempotency keys. All functions are parts of steps.

/** Old keys that one step removes. */
export const REMOVED_KEYS_MAX = 1000

export function findJob({ key, tail }: Id): Step<JobRow | undefined> {
  return first<JobRow>('SELECT * FROM jobs WHERE id_key = ? AND id_tail = ?', key, tail)
}

/** Throws a RangeError for an unknown id. */
export function* jobWithId(id: Id): Step<JobRow> {
  const row = yield* findJob(id)
  if (row === undefined) throw new RangeError(`There is no job ${formatId('op', id)}.`)
  return row
}

export function* hasUpstreamId(provider: string, upstreamId: string): Step<boolean> {
  const row = yield* first(
    'SELECT row_id FROM jobs WHERE provider = ? AND upstream_id = ?',
    provider,
    upstreamId,
  )
  return row !== undefined
}

export function* insertJob(row: Omit<JobRow, 'row_id'>): Step<JobRow> {
  const rowId = yield* insert(jobsTable, row)
  if (rowId === null)
    throw new Error(`The job id ${formatId('op', { key: row.id_key, tail: row.id_tail })} is in use.`)
  return { ...row, row_id: rowId }
}

/**
 * Writes the columns of a job that a step changes, and returns the row after it. It changes by compare-and-set: the
 * update names the values of these columns in the row that the step was decided on. Returns undefined, and writes
 * nothing, if they are others now.
 */
export function updateJob(
  before: JobRow,
  columns: Partial<JobProgress>,
  expected: readonly (keyof JobProgress)[],
): Step<JobRow | undefined> {
  const changed = progressColumns.filter(column => columns[column] !== undefined)
  const values = changed.map(column => columns[column] ?? null)
  return first<JobRow>(
    `UPDATE jobs SET ${changed.map(column => `${column} = ?`).join(', ')}
      WHERE row_id = ?${expected.map(column => ` AND ${column} = ?`).join('')} RETURNING *`,
    ...values,
    before.row_id,
    ...expected.map(column => before[column]),
  )
}

/** Adds an event, with the columns of the job after the step. `verify` compares them with the row. */
export function* noteEvent(
  row: JobRow,
  { state, detail, atMs }: JobEvent,
  { hashText, idempotency }: { readonly hashText: HashText; readonly idempotency?: NewJob['idempotency'] },
): Step<void> {
  const facts = factsOf(row, hashText, idempotency)
  yield* insert(jobEventsTable, { job: row.row_id, state, detail, at_ms: atMs, facts })
}

/** The events of a job, oldest first. */
export function* eventsOf({ row_id }: JobRow): Step<readonly JobEvent[]> {
  const rows = yield* all<{ state: JobState; detail: string | null; at_ms: bigint }>(
    'SELECT state, detail, at_ms FROM job_events WHERE job = ? ORDER BY row_id',
    row_id,
  )
  return rows.map(({ state, detail, at_ms }) => ({ state, detail, atMs: Number(at_ms) }))
}

/**
 * The job that an account made with an idempotency key. Throws an Error if the key names the job of another account,
 * which only an edit of the database can cause.
 */
export function* jobOfKey(accountId: number, key: string, nowMs: number): Step<JobOfKey | undefined> {
  const named = yield* first<{ fingerprint: string; job: bigint }>(
    'SELECT fingerprint, job FROM job_keys WHERE account_id = ? AND key = ? AND created_at_ms > ?',
    accountId,
    key,
    nowMs - KEY_TTL_MS,
  )
  if (named === undefined) return undefined
  const row = yield* first<JobRow>('SELECT * FROM jobs WHERE row_id = ?', named.job)
  if (row?.account_id !== BigInt(accountId))
    throw new Error(
      `The idempotency key "${key}" names the job in row ${named.job}, which belongs to another account.`,
    )
  return { fingerprint: named.fingerprint, row }
}

type JobOfKey = { readonly fingerprint: string; readonly row: JobRow }

export function writeKey(
  { row_id, account_id }: JobRow,
  { key, fingerprint }: { readonly key: string; readonly fingerprint: string },
  atMs: number,
): Step<void> {
  return run(
    `INSERT INTO job_keys (account_id, key, fingerprint, job, created_at_ms) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (account_id, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, job = excluded.job, created_at_ms = excluded.created_at_ms`,
    account_id,
    key,
    fingerprint,
    row_id,
    atMs,
  )
}

/** Removes keys that no request can use any more, oldest first. Returns their number, at most `REMOVED_KEYS_MAX`. */
export function* removeOldKeys(nowMs: number): Step<number> {
  const removed = yield* all(
    `DELETE FROM job_keys WHERE created_at_ms <= ? AND (account_id, key) IN (
      SELECT account_id, key FROM job_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ${REMOVED_KEYS_MAX})
      RETURNING account_id`,
    nowMs - KEY_TTL_MS,
    nowMs - KEY_TTL_MS,
  )
  return removed.length
}
