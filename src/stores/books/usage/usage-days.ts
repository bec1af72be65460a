import { addUsd, nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { inputTokens, outputTokens } from '../../../domain/pricing/usage.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { ChargeSums, OperatorSums, UsageTotals } from '../../../gateway/ports/ledger/ledger-reports.ts'
import type { SqlValue } from '../rows/canonical.ts'
import { usageFrom, usageOfCharge, type UsageColumns } from '../rows/usage-columns.ts'

const MS_PER_DAY = 86_400_000

/** The sums of some charges of one day, and the row ids of the first and the latest one. */
export type UsageDay = { readonly first: bigint; readonly latest: bigint; readonly totals: UsageTotals }

/** The columns that the charges of a row of `usage_days` have in common. */
export type UsageGroup = {
  readonly day: number
  readonly accountId: number
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
}

/** The sums that a transaction adds to a row of `usage_days`. */
export type UsageDaySum = { -readonly [Name in keyof ChargeSums]: ChargeSums[Name] } & {
  readonly group: UsageGroup
  first: bigint
  latest: bigint
}

/** SQL for whether a charge was credited back, because the client of its request got an error. */
export const IS_COMPENSATED = `EXISTS (SELECT 1 FROM attempts WHERE request_key = charges.id_key
  AND request_tail = charges.id_tail AND attempts.state = 'compensated') AS is_compensated`

/** Adds sums to a row of `usage_days`, with the values of `daySumValues`. */
export const ADD_TO_DAY = `INSERT INTO usage_days AS d (day, account_id, api_key_id, model, provider, first_charge_id,
    latest_charge_id, charges, input_tokens, output_tokens, images, duration_ms, cost, compensated, provider_cost,
    charges_without_cost)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (day, account_id, api_key_id, model, provider) DO UPDATE SET
    first_charge_id = CASE WHEN excluded.first_charge_id < d.first_charge_id
      THEN excluded.first_charge_id ELSE d.first_charge_id END,
    latest_charge_id = CASE WHEN excluded.latest_charge_id > d.latest_charge_id
      THEN excluded.latest_charge_id ELSE d.latest_charge_id END,
    charges = d.charges + excluded.charges,
    input_tokens = d.input_tokens + excluded.input_tokens,
    output_tokens = d.output_tokens + excluded.output_tokens,
    images = d.images + excluded.images,
    duration_ms = d.duration_ms + excluded.duration_ms,
    cost = d.cost + excluded.cost,
    compensated = d.compensated + excluded.compensated,
    provider_cost = d.provider_cost + excluded.provider_cost,
    charges_without_cost = d.charges_without_cost + excluded.charges_without_cost`

export function daySumValues({ group, ...sum }: UsageDaySum): SqlValue[] {
  return [
    group.day,
    group.accountId,
    group.apiKeyId,
    group.model,
    group.provider,
    sum.first,
    sum.latest,
    sum.charges,
    sum.inputTokens,
    sum.outputTokens,
    sum.images,
    sum.durationMs,
    sum.cost,
    sum.compensated,
    sum.providerCost,
    sum.chargesWithoutCost,
  ]
}

/** The day of a time, in UTC: the number of days since 1970. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY)
}

/** When a day begins. */
export function startOfDay(day: number): number {
  return day * MS_PER_DAY
}

/** The sums that the charges of a transaction add, by the rows that they are added to. */
export class UsageDaySums {
  readonly #all: UsageDaySum[] = []
  /** By API key, because the charges of a key in one transaction add to few rows. */
  readonly #ofKeys = new Map<number, UsageDaySum[]>()

  /** Adds a charge that was just written. */
  add(accountId: number, chargeId: bigint, charge: Charge, isCompensated: boolean): void {
    const sum = this.#sumOf(accountId, dayOf(charge.atMs), charge, chargeId)
    const usage = usageOfCharge(charge)
    sum.charges += 1
    sum.inputTokens += inputTokens(usage)
    sum.outputTokens += outputTokens(usage)
    if (charge.kind === 'images') sum.images += charge.images
    if (charge.kind === 'video') sum.durationMs += charge.durationMs
    sum.cost = addUsd(sum.cost, charge.cost)
    if (isCompensated) sum.compensated = addUsd(sum.compensated, charge.cost)
    if (charge.providerCost === null) sum.chargesWithoutCost += 1
    else sum.providerCost = addUsd(sum.providerCost, charge.providerCost)
  }

  /** Adds a stored charge. */
  addSums(group: UsageGroup, chargeId: bigint, sums: ChargeSums): void {
    const sum = this.#sumOf(group.accountId, group.day, group, chargeId)
    Object.assign(sum, addSums(sum, sums))
  }

  get all(): readonly UsageDaySum[] {
    return this.#all
  }

  clear(): void {
    this.#all.length = 0
    this.#ofKeys.clear()
  }

  /** The sum of the row that a charge is added to. */
  #sumOf(accountId: number, day: number, of: GroupOfKey, chargeId: bigint): UsageDaySum {
    const { apiKeyId, model, provider } = of
    const ofKey = this.#ofKeys.get(apiKeyId)
    for (const sum of ofKey ?? []) {
      const { group } = sum
      if (group.model !== model || group.provider !== provider) continue
      if (group.day !== day || group.accountId !== accountId) continue
      if (chargeId < sum.first) sum.first = chargeId
      if (chargeId > sum.latest) sum.latest = chargeId
      return sum
    }
    const group = { day, accountId, apiKeyId, model, provider }
    const sum = { group, first: chargeId, latest: chargeId, ...NO_SUMS }
    this.#all.push(sum)
    if (ofKey === undefined) this.#ofKeys.set(apiKeyId, [sum])
    else ofKey.push(sum)
    return sum
  }
}

type GroupOfKey = Pick<UsageGroup, 'apiKeyId' | 'model' | 'provider'>

/** The sums of the provider's cost of one charge, which may be unknown. */
function costSums(providerCost: NanoUsd | null): Omit<OperatorSums, 'compensated'> {
  return { providerCost: providerCost ?? ZERO, chargesWithoutCost: providerCost === null ? 1 : 0 }
}

export const NO_SUMS: ChargeSums = {
  charges: 0,
  inputTokens: 0,
  outputTokens: 0,
  images: 0,
  durationMs: 0,
  cost: ZERO,
  compensated: ZERO,
  providerCost: ZERO,
  chargesWithoutCost: 0,
}

export function addSums(left: ChargeSums, right: ChargeSums): ChargeSums {
  return {
    ...addTotals(left, right),
    compensated: addUsd(left.compensated, right.compensated),
    providerCost: addUsd(left.providerCost, right.providerCost),
    chargesWithoutCost: left.chargesWithoutCost + right.chargesWithoutCost,
  }
}

export function addTotals(left: UsageTotals, right: UsageTotals): UsageTotals {
  return {
    charges: left.charges + right.charges,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    images: left.images + right.images,
    durationMs: left.durationMs + right.durationMs,
    cost: addUsd(left.cost, right.cost),
  }
}

/** The columns of a charge that totals add up. */
export type ChargeMeasures = UsageColumns & {
  images: bigint | null
  duration_ms: bigint | null
  cost: bigint
}

/** The totals of one stored charge. */
export function totalsOfRow(row: ChargeMeasures): UsageTotals {
  const usage = usageFrom(row)
  return {
    charges: 1,
    inputTokens: inputTokens(usage),
    outputTokens: outputTokens(usage),
    images: Number(row.images ?? 0),
    durationMs: Number(row.duration_ms ?? 0),
    cost: nanoUsd(row.cost),
  }
}

/** The columns of a charge that its sums for the operator are read from. */
export type OperatorMeasures = {
  provider_cost: bigint | null
  /** 1 if it was credited back, because the client of its request got an error. */
  is_compensated: bigint
}

/** The sums of one stored charge. */
export function sumsOfRow(row: ChargeMeasures & OperatorMeasures): ChargeSums {
  const totals = totalsOfRow(row)
  return {
    ...totals,
    compensated: row.is_compensated === 1n ? totals.cost : ZERO,
    ...costSums(row.provider_cost === null ? null : nanoUsd(row.provider_cost)),
  }
}

export type UsageDayRow = {
  first_charge_id: bigint
  latest_charge_id: bigint
  charges: bigint
  input_tokens: bigint
  output_tokens: bigint
  images: bigint
  duration_ms: bigint
  cost: bigint
}

/** The columns of a `UsageDayRow`, as sums over the rows of an account. */
export const ACCOUNT_SUMS = `min(first_charge_id) AS first_charge_id, max(latest_charge_id) AS latest_charge_id,
  ${sumsOf('charges', 'input_tokens', 'output_tokens', 'images', 'duration_ms', 'cost')}`

export function usageDayFrom(row: UsageDayRow): UsageDay {
  return {
    first: row.first_charge_id,
    latest: row.latest_charge_id,
    totals: {
      charges: Number(row.charges),
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      images: Number(row.images),
      durationMs: Number(row.duration_ms),
      cost: nanoUsd(row.cost),
    },
  }
}

/** A row of `usage_days` with the columns for the operator, or a sum of such rows. */
export type UsageSumsRow = UsageDayRow & {
  compensated: bigint
  provider_cost: bigint
  charges_without_cost: bigint
}

/** The columns of a `UsageSumsRow`, as sums over rows of `usage_days`. */
export const ALL_SUMS = `${ACCOUNT_SUMS}, ${sumsOf('compensated', 'provider_cost', 'charges_without_cost')}`

export function chargeSumsFrom(row: UsageSumsRow): ChargeSums {
  return {
    ...usageDayFrom(row).totals,
    compensated: nanoUsd(row.compensated),
    providerCost: nanoUsd(row.provider_cost),
    chargesWithoutCost: Number(row.charges_without_cost),
  }
}

/** PostgreSQL adds integers up to a decimal. */
function sumsOf(...columns: readonly string[]): string {
  return columns.map(column => `CAST(sum(${column}) AS bigint) AS ${column}`).join(', ')
}
