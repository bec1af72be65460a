import { formatId } from '../../../../domain/ids.ts'
import { jobIdPrefix, KEY_TTL_MS, type JobState } from '../../../../domain/jobs/job.ts'
import type { HoldState } from '../../../../domain/ledger/hold.ts'
import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import { changedColumns, creationFactsIn, type HashText } from '../../jobs/job-facts.ts'
import type { JobRow } from '../../jobs/job-rows.ts'
import { findingOf, type Finding } from '../findings.ts'

/** A job with its hold, its charge, the operation of its loss, and its latest event. */
export type CheckedJob = JobRow & {
  hold: HoldState | null
  hold_amount: bigint | null
  charged: bigint | null
  loss_operation: string | null
  /** The state in the latest event; null without an event. */
  event: string | null
  /** Of the latest event. */
  facts: string | null
}

/** The state of the hold that each state of a job comes with. */
const holdStateOf = {
  queued: 'open',
  processing: 'open',
  unknown_submit: 'open',
  completed: 'captured',
  failed: 'released',
} as const satisfies Record<JobState, HoldState>

/**
 * Each job must have a hold of its own amount: an open one while the job can end, a captured one with the job's cost
 * after a completion, and a released one after a failure. A loss must have its operation, and the latest event the
 * state and the columns of the job. (Events of earlier versions do not have the columns.)
 */
export function findingsOfJob(row: CheckedJob, sha256Of: HashText): readonly Finding[] {
  const problem = problemOfJob(row, sha256Of)
  if (problem === undefined) return []
  const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
  return [findingOf(row.account_id, `job ${id} ${problem}`)]
}

function problemOfJob(row: CheckedJob, sha256Of: HashText): string | undefined {
  const { state, held, cost, hold, hold_amount: holdAmount, charged, loss } = row
  if (hold !== holdStateOf[state]) return `is ${state}, but its hold is ${hold ?? 'missing'}`
  if (holdAmount !== held) return `holds ${usd(held)}, but its hold is of ${usd(holdAmount)}`
  if (charged !== cost) return `costs ${usd(cost)}, but was charged ${usd(charged)}`
  const expected = loss !== null && loss > 0n ? 'loss' : null
  if (row.loss_operation === expected) return problemOfEvent(row, sha256Of)
  return row.loss_operation === null
    ? `has a loss of ${usd(loss)}, but no operation booked it`
    : `has a loss of ${usd(loss)}, but an operation of the kind "${row.loss_operation}" booked it`
}

function problemOfEvent(row: CheckedJob, sha256Of: HashText): string | undefined {
  const { state, event, facts } = row
  if (event !== state) return `is ${state}, but its latest event says ${event ?? 'nothing'}`
  const changed = facts === null ? [] : changedColumns(facts, row, sha256Of)
  return changed.length === 0 ? undefined : `was changed after its latest event: ${changed.join(', ')}`
}

/** An idempotency key with its job, and the facts of the event that created the job. */
export type CheckedKey = {
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

/**
 * The idempotency key of a media request must name a job of its account, and be the one that the first event of the job
 * has. (Jobs of earlier versions do not have the key in their first event.)
 */
export function findingsOfJobKey(row: CheckedKey, sha256Of: HashText): readonly Finding[] {
  const problem = problemOfJobKey(row, sha256Of)
  if (problem === undefined) return []
  return [findingOf(row.account_id, `the idempotency key "${row.key}" ${problem}`)]
}

function problemOfJobKey(
  { owner, account_id, key, facts, ...row }: CheckedKey,
  sha256Of: HashText,
): string | undefined {
  if (owner === null) return `names job row ${row.job}, which is missing`
  if (owner !== account_id) return `names job row ${row.job}, which belongs to another account`
  if (facts === null) return undefined
  const creation = creationFactsIn(facts)
  if (creation?.keySha256 !== sha256Of(key)) return `names job row ${row.job}, which was not created with it`
  if (creation.fingerprint !== row.fingerprint) return 'has another request than its job was created with'
  return row.created_at_ms === row.job_created_at_ms ? undefined : 'has another time than its job'
}

/** A job with the facts of the event that created it, and whether the row of its idempotency key exists. */
export type KeyedJob = {
  row_id: bigint
  account_id: bigint
  created_at_ms: bigint
  facts: string | null
  is_kept: bigint
  /** When the newest key was added. */
  newest: bigint | null
}

/** A job that was created with a key must have its row until the row can be removed, which a newer row does. */
export function findingsOfKeyedJob(row: KeyedJob): readonly Finding[] {
  const { row_id, account_id, created_at_ms, facts, is_kept, newest } = row
  const mayBeRemoved = newest !== null && created_at_ms <= newest - BigInt(KEY_TTL_MS)
  if (is_kept === 1n || mayBeRemoved || facts === null || creationFactsIn(facts) === undefined) return []
  const message = [{ job: row_id }, ': the row of its idempotency key is missing.']
  return [{ accountId: account_id, entryId: null, message }]
}

function usd(amount: bigint | null): string {
  return amount === null ? 'nothing' : describeUsd(nanoUsd(amount))
}
