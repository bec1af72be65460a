import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import type { Provenance } from '../../../domain/pricing/usage.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import type { ChargeRow } from '../usage-list.ts'
import { worthOf } from './worth.ts'

const CHARGES_A_TURN = 128

type Row = ChargeRow & {
  tariff_id: bigint | null
  is_of_operation: bigint | null
  is_chained: bigint
  is_of_key: bigint
}

/**
 * Each charge must have the operation that moved its cost, and cost what its usage is worth by its frozen tariff. What it calls
 * its route, its model and its provider stands nowhere else, moves no money, and is not checked.
 */
export function* checkCharges(database: Database): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT charges.*, content,
        (SELECT subject_key = id_key AND subject_tail = id_tail AND account_id = charges.account_id
            AND kind IN ('charge', 'capture') AND at_ms = charges.at_ms
          FROM operations WHERE operations.id = operation_id) AS is_of_operation,
        EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = api_key_id AND api_keys.account_id = charges.account_id)
          AS is_of_key,
        (previous_id IS NULL OR EXISTS (SELECT 1 FROM charges AS previous
          WHERE previous.id = charges.previous_id AND previous.account_id = charges.account_id)) AS is_chained
      FROM charges LEFT JOIN tariffs ON tariffs.id = tariff_id
      WHERE charges.id > ? ORDER BY charges.id LIMIT ?`,
  )
  let last = -1n
  for (;;) {
    const rows = select.all(last, CHARGES_A_TURN)
    yield rows.flatMap(problemsOf)
    last = rows.at(-1)?.id ?? last
    if (rows.length < CHARGES_A_TURN) return
  }
}

function problemsOf(row: Row): readonly Problem[] {
  const objection = objectionTo(row)
  if (objection === undefined) return []
  const id = formatId('req', { key: row.id_key, tail: row.id_tail })
  return [{ entryId: null, message: `Charge ${id} ${objection}.` }]
}

function objectionTo(row: Row): string | undefined {
  if (row.cost < 0n || (row.operation_id === null) !== (row.cost === 0n))
    return `costs ${row.cost} and has operation ${row.operation_id}`
  if (row.operation_id !== null && row.is_of_operation !== 1n)
    return `has operation ${row.operation_id}, which is not its own`
  if (row.is_of_key !== 1n) return `was made with API key ${row.api_key_id}, which its account does not have`
  const measures = [row.provenance, row.images, row.duration_ms].filter(measure => measure !== null)
  if (measures.length !== 1) return 'is not for exactly one of text, images and video'
  if (row.provenance !== null && !provenances.includes(row.provenance))
    return `has a usage of the provenance "${row.provenance}"`
  if (row.provenance === null && row.content === null) return 'has no tariff'
  if (row.is_clamped !== 0n && row.is_clamped !== 1n)
    return `says ${row.is_clamped} of whether it was clamped`
  if (row.shortfall < 0n || row.shortfall > row.cost)
    return `costs ${row.cost}, of which ${row.shortfall} exceeded its hold`
  if (row.is_chained !== 1n) return `follows charge ${row.previous_id}, which its account does not have`
  if (row.tariff_id !== null && row.content === null)
    return `has tariff ${row.tariff_id}, which does not exist`
  if (row.content === null) return undefined
  const worth = worthOf(row, row.content)
  if (worth === null) return `has tariff ${row.tariff_id}, whose prices cannot be read`
  return worth === row.cost
    ? undefined
    : `costs ${row.cost}, but its usage is worth ${worth} by its frozen tariff`
}

const provenances: readonly string[] = ['reported', 'estimated'] satisfies Provenance[]
