import type { Database } from 'bun:sqlite'
import { creationFactsIn } from '../../books/jobs/job-facts.ts'
import { KEY_TTL_MS } from '../../../domain/jobs/job.ts'
import { findingOf, type Finding } from '../../books/verify/findings.ts'
import { sha256Of } from '../hashes.ts'
import { inPieces } from './in-pieces.ts'

const ROWS_A_TURN = 256

/**
 * The idempotency key of a media request must name a job of its account, and be the one that the first event of the job
 * has. A job that was created with a key must have its row until the row can be removed, which a newer row does. (Jobs
 * of earlier versions do not have the key in their first event.)
 */
export function* checkJobKeys(database: Database): Generator<readonly Finding[]> {
  yield* checkKeys(database)
  yield* checkKeyedJobs(database)
}

type CheckedKey = {
  account_id: bigint
  key: string
  fingerprint: string
  job: bigint
  created_at_ms: bigint
  /** Null if the job is missing. */
  owner: bigint | null
  job_created_at_ms: bigint | null
  facts: string | null
}

function* checkKeys(database: Database): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedKey, [bigint, string, number]>(
    `SELECT job_keys.*, jobs.account_id AS owner, jobs.created_at_ms AS job_created_at_ms, ${FIRST_FACTS}
      FROM job_keys LEFT JOIN jobs ON jobs.row_id = job
      WHERE (job_keys.account_id, key) > (?, ?) ORDER BY job_keys.account_id, key LIMIT ?`,
  )
  let last = { account_id: -1n, key: '' }
  for (;;) {
    const rows = select.all(last.account_id, last.key, ROWS_A_TURN)
    yield rows.flatMap(row => {
      const problem = problemOfKey(row)
      if (problem === undefined) return []
      return [findingOf(row.account_id, `the idempotency key "${row.key}" ${problem}`)]
    })
    last = rows.at(-1) ?? last
    if (rows.length < ROWS_A_TURN) return
  }
}

function problemOfKey({ owner, account_id, key, facts, ...row }: CheckedKey): string | undefined {
  if (owner === null) return `names job row ${row.job}, which is missing`
  if (owner !== account_id) return `names job row ${row.job}, which belongs to another account`
  if (facts === null) return undefined
  const creation = creationFactsIn(facts)
  if (creation?.keySha256 !== sha256Of(key)) return `names job row ${row.job}, which was not created with it`
  if (creation.fingerprint !== row.fingerprint) return 'has another request than its job was created with'
  return row.created_at_ms === row.job_created_at_ms ? undefined : 'has another time than its job'
}

type KeyedJob = { row_id: bigint; account_id: bigint; created_at_ms: bigint; facts: string | null }

function* checkKeyedJobs(database: Database): Generator<readonly Finding[]> {
  const select = database.prepare<KeyedJob & { is_kept: bigint; newest: bigint | null }, [bigint, number]>(
    `SELECT jobs.row_id, jobs.account_id, jobs.created_at_ms, ${FIRST_FACTS},
        EXISTS (SELECT 1 FROM job_keys WHERE job = jobs.row_id AND job_keys.account_id = jobs.account_id) AS is_kept,
        (SELECT max(created_at_ms) FROM job_keys) AS newest
      FROM jobs WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?`,
  )
  for (const rows of inPieces(select, ROWS_A_TURN, row => row.row_id)) {
    yield rows.flatMap(({ row_id, account_id, created_at_ms, facts, is_kept, newest }) => {
      const mayBeRemoved = newest !== null && created_at_ms <= newest - BigInt(KEY_TTL_MS)
      if (is_kept === 1n || mayBeRemoved || facts === null || creationFactsIn(facts) === undefined) return []
      const message = [{ job: row_id }, ': the row of its idempotency key is missing.']
      return [{ accountId: account_id, entryId: null, message }]
    })
  }
}

/** The facts of the event that created a job. */
const FIRST_FACTS = `(SELECT facts FROM job_events WHERE job_events.job = jobs.row_id ORDER BY job_events.row_id LIMIT 1)
  AS facts`
