import { KEY_TTL_MS } from '../../../domain/jobs/job.ts'
import { correctionsTable, holdsTable } from '../../books/rows/money-tables.ts'
import { attemptsTable, jobEventsTable, jobsTable } from '../../books/rows/work-tables.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { JOBS, KEYED_JOBS } from '../../books/verify/job-queries.ts'
import { ATTEMPTS, CORRECTIONS, HOLDS } from '../../books/verify/money-queries.ts'
import { checkKeysOfJobs } from '../../books/verify/read-jobs.ts'
import {
  findingsOfJob,
  findingsOfKeyedJob,
  type CheckedJob,
  type KeyedJob,
} from '../../books/verify/rules/job-rules.ts'
import {
  findingsOfAttempt,
  findingsOfCorrection,
  findingsOfHold,
  type CheckedAttempt,
  type CheckedCorrection,
  type CheckedHold,
} from '../../books/verify/rules/money-row-rules.ts'
import { sha256Of } from '../lanes/lane.ts'
import type { CheckedBooks } from './checked-books.ts'
import type { Snapshot } from './snapshot.ts'

/** Requests can have long prompts. */
const JOBS_AT_ONCE = 64

/**
 * The checks of rows that change after they were written, of those that may have changed since `checked`: new ones,
 * those that are open, and those that an operation or an event ended since. Other rows change only by hand.
 */
export function checksOfChangedRows(snapshot: Snapshot, checked: CheckedBooks) {
  const holds = `${HOLDS} WHERE ${checked.isOfNewCommit(holdsTable)} OR state = 'open'
    OR ${checked.isNew('resolved_by')} ORDER BY holds.id`
  const attempts = `${ATTEMPTS} WHERE ${checked.isOfNewCommit(attemptsTable)} OR state IN ('timed_out', 'billed')
    OR ${checked.isNew('compensated_by')} ORDER BY attempts.id`
  const jobs = `${JOBS} WHERE ${checked.isOfNewCommit(jobsTable)}
    OR jobs.state IN ('queued', 'processing', 'unknown_submit') OR watch_until_ms IS NOT NULL
    OR jobs.row_id IN (SELECT job FROM job_events WHERE ${checked.isOfNewCommit(jobEventsTable)}) ORDER BY jobs.row_id`
  const corrections = `${CORRECTIONS} WHERE ${checked.isOfNewCommit(correctionsTable)} ORDER BY corrections.id`
  return {
    holds: found(snapshot.rows<CheckedHold>(holds), findingsOfHold),
    attempts: found(snapshot.rows<CheckedAttempt>(attempts), findingsOfAttempt),
    jobs: found(snapshot.rows<CheckedJob>(jobs, JOBS_AT_ONCE), row => findingsOfJob(row, sha256Of)),
    job_keys: checkJobKeysSince(snapshot),
    corrections: found(snapshot.rows<CheckedCorrection>(corrections), findingsOfCorrection),
  }
}

/** The rule of keys concerns no job whose key may be removed: those are left out. */
async function* checkJobKeysSince(snapshot: Snapshot): AsyncGenerator<readonly Finding[]> {
  yield* checkKeysOfJobs(snapshot.read, sha256Of)
  const jobs = `${KEYED_JOBS} WHERE created_at_ms > coalesce((SELECT max(created_at_ms) FROM job_keys), 0) - ${KEY_TTL_MS}
    ORDER BY jobs.row_id`
  yield* found(snapshot.rows<KeyedJob>(jobs), findingsOfKeyedJob)
}

async function* found<Row>(
  pages: AsyncIterable<readonly Row[]>,
  findingsOf: (row: Row) => readonly Finding[],
): AsyncGenerator<readonly Finding[]> {
  for await (const rows of pages) yield rows.flatMap(findingsOf)
}
