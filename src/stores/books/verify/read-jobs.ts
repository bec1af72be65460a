import type { HashText } from '../jobs/job-facts.ts'
import { all, type StepRunner } from '../steps.ts'
import type { Finding } from './findings.ts'
import { inPieces } from './in-pieces.ts'
import { JOBS, KEYED_JOBS, KEYS } from './job-queries.ts'
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
const NEXT_JOBS = 'WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?'

export async function* checkJobs(
  read: StepRunner['read'],
  sha256Of: HashText,
): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedJob>(read, {
    select: `${JOBS} ${NEXT_JOBS}`,
    rowsMax: JOBS_A_PIECE,
    rowIdOf: rowIdOfJob,
  })
  for await (const rows of pieces) yield rows.flatMap(row => findingsOfJob(row, sha256Of))
}

/** Checks the rows of idempotency keys, and the jobs that must have one. */
export async function* checkJobKeys(
  read: StepRunner['read'],
  sha256Of: HashText,
): AsyncGenerator<readonly Finding[]> {
  yield* checkKeysOfJobs(read, sha256Of)
  const pieces = inPieces<KeyedJob>(read, {
    select: `${KEYED_JOBS} ${NEXT_JOBS}`,
    rowsMax: KEYS_A_PIECE,
    rowIdOf: rowIdOfJob,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfKeyedJob)
}

/** Checks the rows of idempotency keys alone. There are few, because a newer one removes those of the day before. */
export async function* checkKeysOfJobs(
  read: StepRunner['read'],
  sha256Of: HashText,
): AsyncGenerator<readonly Finding[]> {
  for (let last = { account_id: -1n, key: '' }; ;) {
    const { account_id: accountId, key } = last
    const rows = await read(() => all<CheckedKey>(KEYS, accountId, key, KEYS_A_PIECE))
    yield rows.flatMap(row => findingsOfJobKey(row, sha256Of))
    last = rows.at(-1) ?? last
    if (rows.length < KEYS_A_PIECE) return
  }
}

function rowIdOfJob({ row_id: rowId }: { readonly row_id: bigint }): bigint {
  return rowId
}
