import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobState } from '../../../domain/jobs/job.ts'
import type { HoldState } from '../../../domain/ledger/hold.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import { changedColumns } from '../../books/jobs/job-facts.ts'
import type { JobRow } from '../../books/jobs/job-rows.ts'
import { findingOf, type Finding } from '../../books/verify/findings.ts'
import { sha256Of } from '../hashes.ts'
import { inPieces } from './in-pieces.ts'

/** Requests can have long prompts. */
const JOBS_A_TURN = 64

/**
 * Each job must have a hold of its own amount: an open one while the job can end, a captured one with the job's cost
 * after a completion, and a released one after a failure. A loss must have its operation, and the latest event the
 * state and the columns of the job. (Events of earlier versions do not have the columns.)
 */
export function* checkJobs(database: Database): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedJob, [bigint, number]>(
    `SELECT jobs.*, holds.state AS hold, holds.amount AS hold_amount,
        (SELECT charges.cost FROM charges WHERE charges.id_key = jobs.id_key AND charges.id_tail = jobs.id_tail
          AND charges.account_id = jobs.account_id) AS charged,
        (SELECT operations.kind FROM operations WHERE operations.id = loss_by AND operations.account_id = jobs.account_id
          AND subject_key = jobs.id_key AND subject_tail = jobs.id_tail) AS loss_operation,
        (SELECT job_events.state FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS event,
        (SELECT facts FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS facts
      FROM jobs LEFT JOIN holds ON holds.id_key = jobs.id_key AND holds.id_tail = jobs.id_tail
        AND holds.account_id = jobs.account_id
      WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?`,
  )
  for (const rows of inPieces(select, JOBS_A_TURN, row => row.row_id)) {
    yield rows.flatMap(findingsOfJob)
  }
}

type CheckedJob = JobRow & {
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

function findingsOfJob(row: CheckedJob): readonly Finding[] {
  const problem = problemOfJob(row)
  if (problem === undefined) return []
  const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
  return [findingOf(row.account_id, `job ${id} ${problem}`)]
}

function problemOfJob(row: CheckedJob): string | undefined {
  const { state, held, cost, hold, hold_amount: holdAmount, charged, loss } = row
  if (hold !== holdStateOf[state]) return `is ${state}, but its hold is ${hold ?? 'missing'}`
  if (holdAmount !== held) return `holds ${usd(held)}, but its hold is of ${usd(holdAmount)}`
  if (charged !== cost) return `costs ${usd(cost)}, but was charged ${usd(charged)}`
  const expected = loss !== null && loss > 0n ? 'loss' : null
  if (row.loss_operation === expected) return problemOfEvent(row)
  return row.loss_operation === null
    ? `has a loss of ${usd(loss)}, but no operation booked it`
    : `has a loss of ${usd(loss)}, but an operation of the kind "${row.loss_operation}" booked it`
}

function problemOfEvent(row: CheckedJob): string | undefined {
  const { state, event, facts } = row
  if (event !== state) return `is ${state}, but its latest event says ${event ?? 'nothing'}`
  const changed = facts === null ? [] : changedColumns(facts, row, sha256Of)
  return changed.length === 0 ? undefined : `was changed after its latest event: ${changed.join(', ')}`
}

function usd(amount: bigint | null): string {
  return amount === null ? 'nothing' : describeUsd(nanoUsd(amount))
}
