import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import type { UsageColumns } from '../usage-columns.ts'
import { worthOf } from './worth.ts'

const ATTEMPTS_A_TURN = 128

/**
 * Each attempt that was compensated must have one charge and one operation that gives the same amount back; one that was not must
 * have neither. (A compensation that names no such attempt is found among the entries.)
 */
export function* checkAttempts(database: Database): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT attempts.*, content,
        (SELECT cost FROM charges WHERE id_key = request_key AND id_tail = request_tail
          AND charges.account_id = attempts.account_id) AS charged,
        (SELECT amount FROM operations WHERE operations.id = compensated_by AND kind = 'compensation'
          AND subject_key = request_key AND subject_tail = request_tail
          AND operations.account_id = attempts.account_id) AS given_back
      FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
      WHERE attempts.id > ? ORDER BY attempts.id LIMIT ?`,
  )
  let last = 0n
  for (;;) {
    const rows = select.all(last, ATTEMPTS_A_TURN)
    yield rows.flatMap(problemsOf)
    last = rows.at(-1)?.id ?? last
    if (rows.length < ATTEMPTS_A_TURN) return
  }
}

type Row = UsageColumns & {
  id: bigint
  request_key: bigint
  request_tail: bigint
  number: bigint
  state: AttemptState
  content: string | null
  cost: bigint | null
  compensated_by: bigint | null
  charged: bigint | null
  given_back: bigint | null
}

function problemsOf(row: Row): readonly Problem[] {
  const objection = objectionTo(row)
  if (objection === undefined) return []
  const id = formatId('req', { key: row.request_key, tail: row.request_tail })
  return [{ entryId: null, message: `Attempt ${row.number} of ${id} ${objection}.` }]
}

function objectionTo(row: Row): string | undefined {
  const { state, cost, charged, compensated_by, given_back } = row
  if (cost !== null && row.content !== null) {
    const worth = worthOf(row, row.content)
    if (worth === null) return 'has a tariff whose prices cannot be read'
    if (worth !== cost) return `costs ${cost}, but its usage is worth ${worth} by its frozen tariff`
  }
  if (state !== 'compensated') {
    if (compensated_by !== null) return `is ${state} and has operation ${compensated_by}`
    // Of an abandoned one the request was charged for another's answer.
    return charged !== null && state !== 'abandoned' ? `is ${state} and was charged ${charged}` : undefined
  }
  if (charged !== cost) return `costs ${cost} and was charged ${charged}`
  // What costs nothing moves nothing.
  const due = cost === 0n ? null : cost
  return given_back === due ? undefined : `costs ${cost}, of which ${given_back} was given back`
}
