import type { HashText } from '../jobs/job-facts.ts'
import { all, type StepRunner } from '../steps.ts'
import type { Finding } from './findings.ts'
import { inPieces } from './in-pieces.ts'
import {
  findingsOfJob,
  findingsOfJobKey,
  findingsOfKeyedJob,
  type CheckedJob,
  type CheckedKey,
  type KeyedJob,
} from './rules/job-rules.ts'

/** Requests can have long prompts. */
const JOBS_A_PIECE = 64
const KEYS_A_PIECE = 256

export async function* checkJobs(
  read: StepRunner['read'],
  sha256Of: HashText,
): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedJob>(read, { select: JOBS, rowsMax: JOBS_A_PIECE, rowIdOf: rowIdOfJob })
  for await (const rows of pieces) yield rows.flatMap(row => findingsOfJob(row, sha256Of))
}

/** Checks the rows of idempotency keys, and the jobs that must have one. */
export async function* checkJobKeys(
  read: StepRunner['read'],
  sha256Of: HashText,
): AsyncGenerator<readonly Finding[]> {
  for (let last = { account_id: -1n, key: '' }; ;) {
    const { account_id: accountId, key } = last
    const rows = await read(() => all<CheckedKey>(KEYS, accountId, key, KEYS_A_PIECE))
    yield rows.flatMap(row => findingsOfJobKey(row, sha256Of))
    last = rows.at(-1) ?? last
    if (rows.length < KEYS_A_PIECE) break
  }
  const pieces = inPieces<KeyedJob>(read, { select: KEYED_JOBS, rowsMax: KEYS_A_PIECE, rowIdOf: rowIdOfJob })
  for await (const rows of pieces) yield rows.flatMap(findingsOfKeyedJob)
}

function rowIdOfJob({ row_id: rowId }: { readonly row_id: bigint }): bigint {
  return rowId
}

const JOBS = `SELECT jobs.*, holds.state AS hold, holds.amount AS hold_amount,
    (SELECT charges.cost FROM charges WHERE charges.id_key = jobs.id_key AND charges.id_tail = jobs.id_tail
      AND charges.account_id = jobs.account_id) AS charged,
    (SELECT operations.kind FROM operations WHERE operations.id = loss_by AND operations.account_id = jobs.account_id
      AND subject_key = jobs.id_key AND subject_tail = jobs.id_tail) AS loss_operation,
    (SELECT job_events.state FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS event,
    (SELECT facts FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS facts
  FROM jobs LEFT JOIN holds ON holds.id_key = jobs.id_key AND holds.id_tail = jobs.id_tail
    AND holds.account_id = jobs.account_id
  WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?`

/** The facts of the event that created a job. */
const FIRST_FACTS = `(SELECT facts FROM job_events WHERE job_events.job = jobs.row_id ORDER BY job_events.row_id LIMIT 1)
  AS facts`

const KEYS = `SELECT job_keys.*, jobs.account_id AS owner, jobs.created_at_ms AS job_created_at_ms, ${FIRST_FACTS}
  FROM job_keys LEFT JOIN jobs ON jobs.row_id = job
  WHERE (job_keys.account_id, key) > (?, ?) ORDER BY job_keys.account_id, key LIMIT ?`

const KEYED_JOBS = `SELECT jobs.row_id, jobs.account_id, jobs.created_at_ms, ${FIRST_FACTS},
    EXISTS (SELECT 1 FROM job_keys WHERE job = jobs.row_id AND job_keys.account_id = jobs.account_id) AS is_kept,
    (SELECT max(created_at_ms) FROM job_keys) AS newest
  FROM jobs WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?`
