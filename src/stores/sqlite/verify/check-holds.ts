import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import type { HoldState } from '../../../domain/ledger/hold.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'

const HOLDS_A_TURN = 256

/**
 * Each hold must have been placed once and ended at most once, by operations of its own. (An operation that claims a hold
 * which does not name it is found among the entries.)
 */
export function* checkHolds(database: Database): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT holds.id, holds.id_key, holds.id_tail, holds.amount, state,
        (SELECT kind FROM operations WHERE operations.id = placed_by
          AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS placing,
        (SELECT kind FROM operations WHERE operations.id = resolved_by
          AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS resolving,
        (SELECT cost FROM charges WHERE charges.id_key = holds.id_key AND charges.id_tail = holds.id_tail) AS cost
      FROM holds WHERE holds.id > ? ORDER BY holds.id LIMIT ?`,
  )
  let last = -1n
  for (;;) {
    const rows = select.all(last, HOLDS_A_TURN)
    yield rows.flatMap(problemsOf)
    last = rows.at(-1)?.id ?? last
    if (rows.length < HOLDS_A_TURN) return
  }
}

type Row = {
  id: bigint
  id_key: bigint
  id_tail: bigint
  amount: bigint
  state: HoldState
  placing: string | null
  resolving: string | null
  cost: bigint | null
}

/** The operation that each state comes with. */
const resolvingOf = {
  open: null,
  captured: 'capture',
  released: 'release',
  expired: 'expire',
} as const satisfies Record<HoldState, string | null>

function problemsOf(row: Row): readonly Problem[] {
  const objection = objectionTo(row)
  if (objection === undefined) return []
  const id = formatId('hold', { key: row.id_key, tail: row.id_tail })
  return [{ entryId: null, message: `Hold ${id} ${objection}.` }]
}

function objectionTo({ amount, state, placing, resolving, cost }: Row): string | undefined {
  // A hold of nothing moves nothing, and has no operations.
  const moves = amount > 0n
  if (placing !== (moves ? 'hold' : null)) return `of ${amount} was placed by the operation "${placing}"`
  if (resolving !== (moves ? resolvingOf[state] : null))
    return `is ${state}, but was ended by the operation "${resolving}"`
  if ((cost !== null) !== (state === 'captured')) return `is ${state} and has a charge of ${cost}`
  return cost !== null && cost > amount ? `of ${amount} was charged ${cost}` : undefined
}
