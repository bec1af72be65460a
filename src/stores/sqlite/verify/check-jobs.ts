import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind, type JobState } from '../../../domain/jobs/job.ts'
import type { HoldState } from '../../../domain/ledger/hold.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'

const JOBS_A_TURN = 256

/**
 * Each job must have a hold of its own amount: an open one while the job can end, a captured one with the job's cost after a
 * completion, and a released one after a failure. A late completion must have its operation.
 */
export function* checkJobs(database: Database): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT jobs.row_id, jobs.id_key, jobs.id_tail, jobs.kind, jobs.state, jobs.held, jobs.cost, jobs.late_cost,
        holds.state AS hold, holds.amount AS hold_amount,
        (SELECT charges.cost FROM charges WHERE charges.id_key = jobs.id_key AND charges.id_tail = jobs.id_tail
          AND charges.account_id = jobs.account_id) AS charged,
        (SELECT operations.kind FROM operations WHERE operations.id = late_by AND operations.account_id = jobs.account_id
          AND subject_key = jobs.id_key AND subject_tail = jobs.id_tail) AS late_operation
      FROM jobs LEFT JOIN holds ON holds.id_key = jobs.id_key AND holds.id_tail = jobs.id_tail
        AND holds.account_id = jobs.account_id
      WHERE jobs.row_id > ? ORDER BY jobs.row_id LIMIT ?`,
  )
  let last = -1n
  for (;;) {
    const rows = select.all(last, JOBS_A_TURN)
    yield rows.flatMap(problemsOf)
    last = rows.at(-1)?.row_id ?? last
    if (rows.length < JOBS_A_TURN) return
  }
}

type Row = {
  row_id: bigint
  id_key: bigint
  id_tail: bigint
  kind: JobKind
  state: JobState
  held: bigint
  cost: bigint | null
  late_cost: bigint | null
  hold: HoldState | null
  hold_amount: bigint | null
  charged: bigint | null
  late_operation: string | null
}

/** The state of the hold that each state of a job comes with. */
const holdOf = {
  queued: 'open',
  processing: 'open',
  unknown_submit: 'open',
  completed: 'captured',
  failed: 'released',
} as const satisfies Record<JobState, HoldState>

function problemsOf(row: Row): readonly Problem[] {
  const objection = objectionTo(row)
  if (objection === undefined) return []
  const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
  return [{ entryId: null, message: `Job ${id} ${objection}.` }]
}

function objectionTo(row: Row): string | undefined {
  const { state, held, cost, hold, hold_amount: holdAmount, charged, late_cost: late } = row
  if (hold !== holdOf[state]) return `is ${state}, but its hold is ${hold ?? 'missing'}`
  if (holdAmount !== held) return `holds ${held}, but its hold is of ${holdAmount}`
  if (charged !== cost) return `has a cost of ${cost} and a charge of ${charged}`
  const expected = late !== null && late > 0n ? 'late_completion' : null
  return row.late_operation === expected
    ? undefined
    : `has a late cost of ${late}, but it was booked by the operation "${row.late_operation}"`
}
