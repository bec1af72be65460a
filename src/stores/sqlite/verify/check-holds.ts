import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import type { HoldState } from '../../../domain/ledger/hold.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'
import { inPieces } from './in-pieces.ts'

const HOLDS_A_TURN = 256

/**
 * Each hold must have been placed once and have ended at most once, by operations of its own. The job of a hold must
 * exist. (An operation that names a hold which does not name it is found among the entries.)
 */
export function* checkHolds(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedHold, [bigint, number]>(
    `SELECT holds.id, holds.id_key, holds.id_tail, holds.account_id, holds.amount, state,
        (SELECT kind FROM operations WHERE operations.id = placed_by
          AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS placing,
        (SELECT kind FROM operations WHERE operations.id = resolved_by
          AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS resolving,
        (SELECT cost FROM charges WHERE charges.id_key = holds.id_key AND charges.id_tail = holds.id_tail) AS cost,
        job_key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id_key = job_key AND jobs.id_tail = job_tail
          AND jobs.account_id = holds.account_id) AS is_orphan
      FROM holds WHERE holds.id > ? ORDER BY holds.id LIMIT ?`,
  )
  for (const rows of inPieces(select, HOLDS_A_TURN, row => row.id)) {
    yield rows.flatMap(row => findingsOf(row, names))
  }
}

type CheckedHold = {
  id: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  amount: bigint
  state: HoldState
  placing: string | null
  resolving: string | null
  cost: bigint | null
  /** 1 if its job is missing. */
  is_orphan: bigint
}

/** The kind of the operation that ends a hold in each state. */
const resolvingOf = {
  open: null,
  captured: 'capture',
  released: 'release',
  expired: 'expire',
} as const satisfies Record<HoldState, string | null>

function findingsOf(row: CheckedHold, names: AccountNames): readonly Finding[] {
  const problem = problemOf(row)
  if (problem === undefined) return []
  const id = formatId('hold', { key: row.id_key, tail: row.id_tail })
  return [
    { accountId: row.account_id, entryId: null, message: `${names.of(row.account_id)}: ${id} ${problem}.` },
  ]
}

function problemOf({ amount, state, placing, resolving, cost, is_orphan }: CheckedHold): string | undefined {
  // A hold of zero moves nothing, so it has no operations.
  const moves = amount > 0n
  if (is_orphan === 1n) return `is of ${usd(amount)}, but its job is missing`
  if (placing !== (moves ? 'hold' : null)) return `was placed by ${operation(placing)}`
  if (resolving !== (moves ? resolvingOf[state] : null))
    return `is ${state}, but ${operation(resolving)} ended it`
  if (cost === null) return state === 'captured' ? 'is captured, but has no charge' : undefined
  if (state !== 'captured') return `is ${state}, but has a charge of ${usd(cost)}`
  return cost > amount ? `is of ${usd(amount)}, but was charged ${usd(cost)}` : undefined
}

function operation(kind: string | null): string {
  return kind === null ? 'no operation' : `an operation of the kind "${kind}"`
}

function usd(amount: bigint): string {
  return describeUsd(nanoUsd(amount))
}
