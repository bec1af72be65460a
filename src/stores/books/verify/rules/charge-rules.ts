import { formatId } from '../../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import type { Provenance } from '../../../../domain/pricing/usage.ts'
import type { ChargeRow } from '../../rows/charge-rows.ts'
import { priceOfRow } from '../../rows/tariff-rows.ts'
import { findingOf, type Finding } from '../findings.ts'

/** A charge with its tariff, its operation and its key. */
export type CheckedCharge = ChargeRow & {
  tariff_id: bigint | null
  /** Null if the operation does not exist. */
  is_of_operation: bigint | null
  is_of_key: bigint
}

/**
 * Checks charges in the order in which they were written. A charge must name the one before it of its account, have the
 * operation that moved its cost, a key of its account, and the cost that its usage has at the stored prices.
 */
export class ChargeCheck {
  /** The latest charge of each account. */
  readonly #latest = new Map<number, bigint>()

  /** The row id of the latest charge of an account; null if it has none. */
  latestOf(accountId: number): bigint | null {
    return this.#latest.get(accountId) ?? null
  }

  add(row: CheckedCharge): Finding | undefined {
    const accountId = Number(row.account_id)
    const latest = this.latestOf(accountId)
    this.#latest.set(accountId, row.id)
    const isNext = row.previous_id === latest
    const chain = isNext ? undefined : `${namesBefore(row)}, but that is row ${latest}`
    return findingOfCharge(row, problemOfCharge(row) ?? chain)
  }
}

/** The problems of a charge by itself, without the charges before it. */
export function findingsOfCharge(row: CheckedCharge): readonly Finding[] {
  const finding = findingOfCharge(row, problemOfCharge(row))
  return finding === undefined ? [] : [finding]
}

/** A charge that does not continue the charges of its account. */
export type LooseCharge = Pick<ChargeRow, 'id_key' | 'id_tail' | 'account_id' | 'previous_id'> & {
  /** 0 if the account has no charge that it names. */
  is_named: bigint
}

/**
 * In a store whose row ids tell no order: each charge but the first one of an account must name another charge of the
 * account, and no two may name the same one. The only charge that no other names is then the latest one.
 */
export function findingOfLooseCharge(row: LooseCharge): Finding {
  const problem = row.is_named === 0n ? 'which the account does not have' : 'which another charge names too'
  return findingFor(row, `${namesBefore(row)}, ${problem}`)
}

function namesBefore({ previous_id: previous }: Pick<ChargeRow, 'previous_id'>): string {
  return `names charge row ${previous} as the one before it`
}

function findingOfCharge(row: CheckedCharge, problem: string | undefined): Finding | undefined {
  return problem === undefined ? undefined : findingFor(row, problem)
}

function findingFor(row: Pick<ChargeRow, 'id_key' | 'id_tail' | 'account_id'>, problem: string): Finding {
  const id = formatId('req', { key: row.id_key, tail: row.id_tail })
  return findingOf(row.account_id, `charge ${id} ${problem}`)
}

function problemOfCharge(row: CheckedCharge): string | undefined {
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
  return problemOfPrice(row, cost)
}

/** Only an estimate assumes that a part of its input was cached. It has no other cached input. */
function mayAssume({ provenance, cached_input }: CheckedCharge, assumed: bigint): boolean {
  return provenance === 'estimated' && assumed > 0n && assumed === cached_input
}

function problemOfPrice(row: CheckedCharge, cost: string): string | undefined {
  if (row.tariff_id === null) return row.provenance === null ? 'has no tariff' : undefined
  if (row.content === null) return `has tariff ${row.tariff_id}, which does not exist`
  const price = priceOfRow(row, row.content)
  if (price === null) return `has tariff ${row.tariff_id}, whose prices cannot be read`
  return price === row.cost
    ? undefined
    : `costs ${cost}, but its usage costs ${describeUsd(price)} at the stored prices`
}

const provenances: readonly string[] = ['reported', 'estimated'] satisfies Provenance[]
