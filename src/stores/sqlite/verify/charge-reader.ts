import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { Provenance } from '../../../domain/pricing/usage.ts'
import type { ChargeRow } from '../../books/charges.ts'
import type { AccountNames } from './account-names.ts'
import { priceOfRow } from './price-of-row.ts'
import type { Finding } from './finding.ts'

const CHARGES_A_TURN = 128

/**
 * Reads the charges in order and follows the chain of each account. A charge must have the operation that moved its
 * cost, a key of its account, and the cost that its usage has at the stored prices.
 */
export class ChargeReader {
  readonly #names: AccountNames
  readonly #select: Statement<CheckedCharge, [bigint, number]>
  /** The latest charge of each account. */
  readonly #latest = new Map<number, bigint>()
  #lastId = 0n

  constructor(database: Database, names: AccountNames) {
    this.#names = names
    this.#select = database.prepare(SELECT)
  }

  /** Checks all charges, in pieces. */
  *check(): Generator<readonly Finding[]> {
    for (;;) {
      const { problems, isDone } = this.#read()
      yield problems
      if (isDone) return
    }
  }

  /** Reads what was written since, in the same turn of the event loop. */
  catchUp(): readonly Finding[] {
    const found: Finding[] = []
    for (;;) {
      const { problems, isDone } = this.#read()
      found.push(...problems)
      if (isDone) return found
    }
  }

  /** The row id of the latest charge of an account; null if it has none. */
  latestOf(accountId: number): bigint | null {
    return this.#latest.get(accountId) ?? null
  }

  #read(): { readonly problems: readonly Finding[]; readonly isDone: boolean } {
    const rows = this.#select.all(this.#lastId, CHARGES_A_TURN)
    const problems = rows.flatMap(row => this.#findingsOf(row))
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return { problems, isDone: rows.length < CHARGES_A_TURN }
  }

  #findingsOf(row: CheckedCharge): readonly Finding[] {
    const accountId = Number(row.account_id)
    const latest = this.latestOf(accountId)
    this.#latest.set(accountId, row.id)
    const problem = problemOf(row, latest)
    if (problem === undefined) return []
    const id = formatId('req', { key: row.id_key, tail: row.id_tail })
    return [{ accountId, entryId: null, message: `${this.#names.of(accountId)}: charge ${id} ${problem}.` }]
  }
}

function problemOf(row: CheckedCharge, latest: bigint | null): string | undefined {
  const cost = describeUsd(nanoUsd(row.cost))
  if (row.cost < 0n) return `has a negative cost, ${cost}`
  if (row.operation_id === null && row.cost > 0n) return `costs ${cost}, but has no operation`
  if (row.operation_id !== null && row.cost === 0n)
    return `costs nothing, but has operation ${row.operation_id}`
  if (row.operation_id !== null && row.is_of_operation !== 1n)
    return `has operation ${row.operation_id}, which belongs to another charge`
  if (row.is_of_key !== 1n) return `has API key ${row.api_key_id}, which the account does not have`
  const measures = [row.provenance, row.images, row.duration_ms].filter(measure => measure !== null)
  if (measures.length !== 1) return 'is not for exactly one of text, images and video'
  if (row.provenance !== null && !provenances.includes(row.provenance))
    return `has the unknown usage source "${row.provenance}"`
  if (row.is_clamped !== 0n && row.is_clamped !== 1n)
    return `has ${row.is_clamped} for is_clamped, which must be 0 or 1`
  if (row.assumed_cached !== null && !mayAssume(row, row.assumed_cached))
    return `has ${row.assumed_cached} for assumed_cached, which must be the cached input of an estimate`
  if (row.shortfall < 0n || row.shortfall > row.cost)
    return `costs ${cost}, but has a shortfall of ${describeUsd(nanoUsd(row.shortfall))}`
  if (row.previous_id !== latest)
    return `names charge row ${row.previous_id} as the one before it, but that is row ${latest}`
  return priceProblemOf(row, cost)
}

/** Only an estimate assumes that a part of its input was cached. It has no other cached input. */
function mayAssume({ provenance, cached_input }: CheckedCharge, assumed: bigint): boolean {
  return provenance === 'estimated' && assumed > 0n && assumed === cached_input
}

function priceProblemOf(row: CheckedCharge, cost: string): string | undefined {
  if (row.tariff_id === null) return row.provenance === null ? 'has no tariff' : undefined
  if (row.content === null) return `has tariff ${row.tariff_id}, which does not exist`
  const price = priceOfRow(row, row.content)
  if (price === null) return `has tariff ${row.tariff_id}, whose prices cannot be read`
  return price === row.cost
    ? undefined
    : `costs ${cost}, but its usage costs ${describeUsd(price)} at the stored prices`
}

const provenances: readonly string[] = ['reported', 'estimated'] satisfies Provenance[]

const SELECT = `SELECT charges.*, content,
    (SELECT subject_key = id_key AND subject_tail = id_tail AND account_id = charges.account_id
        AND kind IN ('charge', 'capture') AND at_ms = charges.at_ms
      FROM operations WHERE operations.id = operation_id) AS is_of_operation,
    EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = api_key_id AND api_keys.account_id = charges.account_id)
      AS is_of_key
  FROM charges LEFT JOIN tariffs ON tariffs.id = tariff_id
  WHERE charges.id > ? ORDER BY charges.id LIMIT ?`

type CheckedCharge = ChargeRow & {
  tariff_id: bigint | null
  /** Null if the operation does not exist. */
  is_of_operation: bigint | null
  is_of_key: bigint
}
