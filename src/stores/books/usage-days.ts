import { addUsd, nanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { Charge, UsageTotals } from '../../gateway/ports/ledger.ts'
import { usageFrom, usageOfCharge, type UsageColumns } from './usage-columns.ts'

const MS_PER_DAY = 86_400_000
/** More than the number of accounts, so that a day and an account make one number. */
const ACCOUNTS_MAX = 2 ** 32

/** The sums of an account's charges of one day, and the row ids of the first and the latest one. */
export type UsageDay = { readonly first: bigint; readonly latest: bigint; readonly totals: UsageTotals }

/** The amounts that a transaction adds to the usage of an account and day. */
export type UsageDaySum = { -readonly [Name in keyof UsageTotals]: UsageTotals[Name] } & {
  readonly day: number
  readonly accountId: number
  readonly first: bigint
  latest: bigint
}

/** The day of a time, in UTC: the number of days since 1970. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY)
}

/** When a day begins. */
export function startOfDay(day: number): number {
  return day * MS_PER_DAY
}

/** The sums that the charges of a transaction add, by day and account. */
export class UsageDaySums {
  readonly #sums = new Map<number, UsageDaySum>()

  /** Adds a charge that was just written. */
  add(accountId: number, chargeId: bigint, charge: Charge): void {
    const day = dayOf(charge.atMs)
    const key = day * ACCOUNTS_MAX + accountId
    const sum = this.#sums.get(key) ?? { ...NO_TOTALS, day, accountId, first: chargeId, latest: chargeId }
    if (sum.charges === 0) this.#sums.set(key, sum)
    sum.latest = chargeId
    addCharge(sum, charge)
  }

  values(): Iterable<UsageDaySum> {
    return this.#sums.values()
  }

  clear(): void {
    this.#sums.clear()
  }
}

export const NO_TOTALS: UsageTotals = {
  charges: 0,
  inputTokens: 0,
  outputTokens: 0,
  images: 0,
  durationMs: 0,
  cost: nanoUsd(0n),
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

/** Changes the sums in place, because each charge is added. */
function addCharge(sums: UsageDaySum, charge: Charge): void {
  sums.charges += 1
  sums.cost = addUsd(sums.cost, charge.cost)
  if (charge.kind === 'images') sums.images += charge.images
  if (charge.kind === 'video') sums.durationMs += charge.durationMs
  const usage = usageOfCharge(charge)
  sums.inputTokens += inputTokens(usage)
  sums.outputTokens += outputTokens(usage)
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

export type UsageDayRow = {
  day: bigint
  account_id: bigint
  first_charge_id: bigint
  latest_charge_id: bigint
  charges: bigint
  input_tokens: bigint
  output_tokens: bigint
  images: bigint
  duration_ms: bigint
  cost: bigint
}

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
