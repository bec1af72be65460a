import type { Id } from '../../../domain/ids.ts'
import type { OpenState } from '../../../domain/jobs/job.ts'
import type { JobPage, Jobs, JobWork, ProviderWork } from '../../../gateway/ports/media/jobs.ts'
import type { SqlValue } from '../rows/canonical.ts'
import { cursorOf, pageOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import { all, run, type Step } from '../steps.ts'
import { jobFrom, type JobRow } from './job-rows.ts'

// `Jobs.list`, `Jobs.due` and `Jobs.claim`. A cursor is the row id of the last job of the page before.

/** A condition of a query, with the values of its question marks. */
export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] }

type ListedJobs = Awaited<ReturnType<Jobs['list']>>

const OPEN = "(state = 'queued' OR state = 'processing' OR state = 'unknown_submit')"

/** The rows that need each kind of work at an instant. */
const conditionOf = {
  stale_queued: atMs => ({
    sql: "state = 'queued' AND coalesce(submitted_at_ms, created_at_ms) <= ?",
    values: [atMs],
  }),
  poll: atMs => ({ sql: "state = 'processing' AND next_poll_at_ms <= ?", values: [atMs] }),
  recover: () => ({ sql: "state = 'unknown_submit'", values: [] }),
  overdue: atMs => ({ sql: `${OPEN} AND deadline_at_ms <= ?`, values: [atMs] }),
  watch: atMs => ({ sql: 'watch_until_ms > ?', values: [atMs] }),
  archive: atMs => ({
    sql: "state = 'completed' AND archived_at_ms IS NULL AND kind IN ('image', 'video') AND changed_at_ms <= ?",
    values: [atMs],
  }),
} as const satisfies Record<Exclude<JobWork, 'left_queued'>, (atMs: number) => Condition>

/**
 * Work whose rows have an index that is not in the order of rows. The sign keeps databases from reading all rows in
 * their order to find a few.
 */
const rowOf: Partial<Record<JobWork, string>> = { overdue: '+row_id', watch: '+row_id', archive: '+row_id' }

export function* listJobs(page: JobPage): Step<ListedJobs> {
  const { accountId, kind, state, limit, cursor, isOldestFirst = false, behind } = page
  const [isBehind, order] = isOldestFirst ? ['>', 'ASC'] : ['<', 'DESC']
  const start = isOldestFirst ? 0n : ROW_ID_MAX
  // Only the conditions that are asked for, so that the list of one account uses the index of its jobs.
  const conditions: readonly Condition[] = [
    { sql: `row_id ${isBehind} ?`, values: [cursor === undefined ? start : readCursor(cursor).value] },
    ...(accountId === undefined ? [] : [{ sql: 'account_id = ?', values: [accountId] }]),
    ...(kind === undefined ? [] : [{ sql: 'kind = ?', values: [kind] }]),
    ...(state === undefined ? [] : [{ sql: 'state = ?', values: [state] }]),
    ...(behind === undefined ? [] : [behindJob(behind, isBehind)]),
  ]
  const { sql, values } = allOf(conditions)
  const rows = yield* all<JobRow>(
    `SELECT * FROM jobs WHERE ${sql} ORDER BY row_id ${order} LIMIT ?`,
    ...values,
    limit + 1,
  )
  return listedJobs(rows, limit)
}

export function* openCounts(): Step<Record<OpenState, number>> {
  const counts: Record<OpenState, number> = { queued: 0, processing: 0, unknown_submit: 0 }
  const rows = yield* all<{ state: OpenState; jobs: bigint }>(
    `SELECT state, count(*) AS jobs FROM jobs WHERE ${OPEN} GROUP BY state`,
  )
  for (const { state, jobs } of rows) counts[state] = Number(jobs)
  return counts
}

export function* dueJobs(
  work: JobWork,
  { atMs, limit, after, kind }: Parameters<Jobs['due']>[1],
  { left }: { readonly left: () => Condition },
): Step<ListedJobs> {
  const { sql, values } = allOf([
    work === 'left_queued'
      ? allOf([{ sql: "state = 'queued'", values: [] }, left()])
      : conditionOf[work](atMs),
    afterPlace(work, after),
    ...(kind === undefined ? [] : [{ sql: 'kind = ?', values: [kind] }]),
  ])
  const rows = yield* all<JobRow>(
    `SELECT * FROM jobs WHERE ${sql} ORDER BY ${rowOf[work] ?? 'row_id'} LIMIT ?`,
    ...values,
    limit + 1,
  )
  return listedJobs(rows, limit)
}

/** Of a job that another step changes at the same time, the update reads the conditions again. */
export function* claimJobs(
  work: ProviderWork,
  { atMs, limit, after, id }: Parameters<Jobs['claim']>[1],
  untilMs: number,
): Step<ListedJobs> {
  const isDue = allOf([conditionOf[work](atMs), { sql: 'next_poll_at_ms <= ?', values: [atMs] }])
  const asked = allOf([
    isDue,
    id === undefined
      ? afterPlace(work, after)
      : { sql: 'id_key = ? AND id_tail = ?', values: [id.key, id.tail] },
  ])
  const claimed = yield* all<JobRow>(
    `UPDATE jobs SET next_poll_at_ms = ? WHERE ${isDue.sql} AND row_id IN (
      SELECT row_id FROM jobs WHERE ${asked.sql} ORDER BY ${rowOf[work] ?? 'row_id'} LIMIT ?) RETURNING *`,
    untilMs,
    ...isDue.values,
    ...asked.values,
    limit,
  )
  // Changed rows come in any order.
  const rows = claimed.toSorted((left, right) => Number(left.row_id - right.row_id))
  const last = rows.at(-1)
  const isFull = rows.length === limit && last !== undefined
  return { jobs: rows.map(jobFrom), ...(isFull ? { next: cursorOf(last.row_id) } : {}) }
}

export function endClaim(
  { key, tail }: Id,
  { claimedUntilMs, atMs }: { readonly claimedUntilMs: number; readonly atMs: number },
): Step<void> {
  return run(
    'UPDATE jobs SET next_poll_at_ms = ? WHERE id_key = ? AND id_tail = ? AND next_poll_at_ms = ?',
    atMs,
    key,
    tail,
    claimedUntilMs,
  )
}

function afterPlace(work: JobWork, cursor: string | undefined): Condition {
  return {
    sql: `${rowOf[work] ?? 'row_id'} > ?`,
    values: [cursor === undefined ? 0n : readCursor(cursor).value],
  }
}

function behindJob({ key, tail }: Id, isBehind: string): Condition {
  return {
    sql: `row_id ${isBehind} (SELECT row_id FROM jobs WHERE id_key = ? AND id_tail = ?)`,
    values: [key, tail],
  }
}

function allOf(conditions: readonly Condition[]): Condition {
  const values: SqlValue[] = conditions.flatMap(condition => condition.values)
  return { sql: conditions.map(({ sql }) => sql).join(' AND '), values }
}

function listedJobs(rows: readonly JobRow[], limit: number): ListedJobs {
  const { shown, ...next } = pageOf(rows, limit, last => cursorOf(last.row_id))
  return { jobs: shown.map(jobFrom), ...next }
}
