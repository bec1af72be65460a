import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'
import { inPieces } from './in-pieces.ts'

const CORRECTIONS_A_TURN = 256

/**
 * Each correction must have an operation of its own account. A refund must have a charge of that account that was not
 * compensated, and all refunds of a charge together must not exceed its cost: the latest one of a charge is reported.
 * (An operation without its correction is found among the entries.)
 */
export function* checkCorrections(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedCorrection, [bigint, number]>(
    `SELECT corrections.id, id_key, id_tail, account_id, charge_id,
        (SELECT kind FROM operations WHERE operations.id = operation_id AND subject_key = id_key AND subject_tail = id_tail
          AND operations.account_id = corrections.account_id) AS operation,
        (SELECT cost FROM charges WHERE charges.id = charge_id AND charges.account_id = corrections.account_id) AS cost,
        CASE WHEN NOT EXISTS (SELECT 1 FROM corrections AS later
            WHERE later.charge_id = corrections.charge_id AND later.id > corrections.id)
          THEN (SELECT sum(amount) FROM corrections AS every WHERE every.charge_id = corrections.charge_id)
        END AS refunded,
        EXISTS (SELECT 1 FROM charges JOIN attempts ON request_key = charges.id_key AND request_tail = charges.id_tail
          WHERE charges.id = charge_id AND state = 'compensated') AS is_compensated
      FROM corrections WHERE corrections.id > ? ORDER BY corrections.id LIMIT ?`,
  )
  for (const rows of inPieces(select, CORRECTIONS_A_TURN, row => row.id)) {
    yield rows.flatMap(row => findingsOf(row, names))
  }
}

type CheckedCorrection = {
  id: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  charge_id: bigint | null
  operation: string | null
  cost: bigint | null
  /** The sum of all refunds of the charge, in the row of the latest one. Null in other rows. */
  refunded: bigint | null
  is_compensated: bigint
}

function findingsOf(row: CheckedCorrection, names: AccountNames): readonly Finding[] {
  const problem = problemOf(row)
  if (problem === undefined) return []
  const id = formatId('op', { key: row.id_key, tail: row.id_tail })
  const message = `${names.of(row.account_id)}: correction ${id} ${problem}.`
  return [{ accountId: row.account_id, entryId: null, message }]
}

function problemOf({
  charge_id,
  operation,
  cost,
  refunded,
  is_compensated,
}: CheckedCorrection): string | undefined {
  const kind = charge_id === null ? 'debit' : 'refund'
  if (operation !== kind) return `is a ${kind}, but has no operation of that kind`
  if (charge_id === null) return undefined
  if (cost === null) return `refunds a charge that the account does not have`
  if (refunded !== null && refunded > cost)
    return `refunds a charge of ${usd(cost)}, but the refunds of that charge add up to ${usd(refunded)}`
  return is_compensated === 1n ? 'refunds a charge that was compensated' : undefined
}

function usd(amount: bigint): string {
  return describeUsd(nanoUsd(amount))
}
