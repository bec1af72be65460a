import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import type { UsageTotals } from '../../../../gateway/ports/ledger/ledger-reports.ts'
import {
  addTotals,
  dayOf,
  startOfDay,
  totalsOfRow,
  usageDayFrom,
  type ChargeMeasures,
  type OperatorMeasures,
  type UsageDay,
  type UsageDayRow,
} from '../../usage/usage-days.ts'
import { findingOf, type Finding } from '../findings.ts'

/**
 * Charges of a day come after those of the day before, unless the clock was set back or a transaction crosses midnight.
 */
const DAYS_OPEN = 2

/** The columns that the charges of a stored row have in common. The last three are absent in a sum over an account. */
type GroupColumns = { account_id: bigint; api_key_id?: bigint; model?: string; provider?: string }

export type MeasuredCharge = Required<GroupColumns> &
  ChargeMeasures &
  OperatorMeasures & {
    id: bigint
    at_ms: bigint
  }

export type StoredUsage = GroupColumns &
  UsageDayRow & {
    compensated: bigint
    /** Absent if the grain has no costs. */
    provider_cost?: bigint
    charges_without_cost?: bigint
  }

/**
 * How finely the usage of a day is compared. While the sums of an earlier version are split by key, model and provider,
 * only the sums of accounts are compared, without what was compensated. While the costs of providers for its charges
 * are added, they are not compared.
 */
export type UsageGrain = 'group_with_costs' | 'group' | 'account'

type Sums = UsageDay & {
  readonly accountId: number
  readonly compensated: bigint
  /** Zero if the grain has no costs. */
  readonly providerCost: bigint
  readonly chargesWithoutCost: number
}

/** The usage of one day, by what the charges have in common. */
type Day = Map<string, Sums>

/**
 * The stored usage of each day must be the sums of its charges. The charges are added up in order. A day is
 * compared when later days have begun. A day that does not match, or that gets a charge after its comparison, is
 * doubtful: it is added up again at the end, because charges may have been written during the check.
 */
export class UsageDaysCheck {
  readonly #grain: UsageGrain
  readonly #open = new Map<number, Day>()
  readonly #compared = new Set<number>()
  readonly #doubtful = new Set<number>()

  constructor(grain: UsageGrain) {
    this.#grain = grain
  }

  /** The days to add up again. */
  get doubtful(): Iterable<number> {
    return this.#doubtful
  }

  add(row: MeasuredCharge): void {
    const day = dayOf(Number(row.at_ms))
    if (this.#compared.has(day)) this.#doubtful.add(day)
    else addTo(this.#open, day, row, this.#grain)
  }

  /** The days to compare now. `isDone` says that there are no more charges. */
  due(isDone: boolean): readonly number[] {
    const days = [...this.#open.keys()]
    const newest = Math.max(...days)
    return isDone ? days : days.filter(day => day <= newest - DAYS_OPEN)
  }

  /** Compares a due day with its stored rows. Returns what is wrong if nothing was written meanwhile. */
  compare(day: number, stored: readonly StoredUsage[]): readonly Finding[] {
    const findings = findingsOfSums(day, storedDay(stored), this.#open.get(day) ?? new Map())
    if (findings.length > 0) this.#doubtful.add(day)
    this.#open.delete(day)
    this.#compared.add(day)
    return findings
  }

  hasCompared(day: number): boolean {
    return this.#compared.has(day)
  }

  /** Notes that a day has stored rows. If no charge is of that day, it is doubtful. */
  noteStored(day: number): void {
    if (!this.hasCompared(day)) this.#doubtful.add(day)
  }
}

/** The problems of a day, from all of its charges and stored rows, which were read in one step. */
export function findingsOfDay(
  day: number,
  {
    stored,
    charges,
  }: { readonly stored: readonly StoredUsage[]; readonly charges: readonly MeasuredCharge[] },
  grain: UsageGrain,
): readonly Finding[] {
  const days = new Map<number, Day>()
  for (const row of charges) addTo(days, day, row, grain)
  return findingsOfSums(day, storedDay(stored), days.get(day) ?? new Map())
}

function findingsOfSums(day: number, stored: Day, sums: Day): readonly Finding[] {
  const date = new Date(startOfDay(day)).toISOString().slice(0, 10)
  return wrongUsages(stored, sums).map(({ accountId, group, problem }) =>
    findingOf(accountId, `the usage of ${date}${group} ${problem}`),
  )
}

function storedDay(rows: readonly StoredUsage[]): Day {
  return new Map(
    rows.map(row => {
      const { compensated, provider_cost: providerCost = 0n, charges_without_cost: withoutCost = 0n } = row
      const costs = { providerCost, chargesWithoutCost: Number(withoutCost) }
      return [keyOf(row), { ...usageDayFrom(row), accountId: Number(row.account_id), compensated, ...costs }]
    }),
  )
}

function keyOf(row: GroupColumns): string {
  return `${row.account_id}${groupOf(row)}`
}

/** For a message. */
function groupOf({ api_key_id: key, model, provider }: GroupColumns): string {
  return key === undefined ? '' : ` (key ${key}, model ${model}, provider ${provider})`
}

function addTo(days: Map<number, Day>, day: number, row: MeasuredCharge, grain: UsageGrain): void {
  const sums = days.get(day) ?? new Map<string, Sums>()
  days.set(day, sums)
  const key = grain === 'account' ? `${row.account_id}` : keyOf(row)
  const before = sums.get(key)
  const totals = totalsOfRow(row)
  const compensated = grain !== 'account' && row.is_compensated === 1n ? row.cost : 0n
  const hasCosts = grain === 'group_with_costs'
  sums.set(key, {
    accountId: Number(row.account_id),
    first: before === undefined || row.id < before.first ? row.id : before.first,
    latest: before === undefined || row.id > before.latest ? row.id : before.latest,
    totals: before === undefined ? totals : addTotals(before.totals, totals),
    compensated: (before?.compensated ?? 0n) + compensated,
    providerCost: (before?.providerCost ?? 0n) + (hasCosts ? (row.provider_cost ?? 0n) : 0n),
    chargesWithoutCost: (before?.chargesWithoutCost ?? 0) + (hasCosts && row.provider_cost === null ? 1 : 0),
  })
}

type WrongUsage = { readonly accountId: number; readonly group: string; readonly problem: string }

function wrongUsages(stored: Day, sums: Day): readonly WrongUsage[] {
  const keys = [...new Set([...stored.keys(), ...sums.keys()])]
  return keys.flatMap(key => {
    const [one, other] = [stored.get(key), sums.get(key)]
    const problem = problemOfUsage(one, other)
    const accountId = (one ?? other)?.accountId
    if (problem === undefined || accountId === undefined) return []
    return [{ accountId, group: key.slice(`${accountId}`.length), problem }]
  })
}

function problemOfUsage(stored: Sums | undefined, sum: Sums | undefined): string | undefined {
  if (sum === undefined) return 'is stored, but there are no charges'
  if (stored === undefined) return 'is missing'
  const wrong = measures.find(measure => stored.totals[measure] !== sum.totals[measure])
  if (wrong !== undefined)
    return `has ${stored.totals[wrong]} ${labelOf[wrong]}, but its charges add up to ${sum.totals[wrong]}`
  if (stored.totals.cost !== sum.totals.cost)
    return `costs ${describeUsd(stored.totals.cost)}, but its charges add up to ${describeUsd(sum.totals.cost)}`
  if (stored.compensated !== sum.compensated)
    return `has ${describeUsd(nanoUsd(stored.compensated))} of compensated charges, but those add up to ${describeUsd(nanoUsd(sum.compensated))}`
  if (stored.providerCost !== sum.providerCost)
    return `has ${describeUsd(nanoUsd(stored.providerCost))} of provider costs, but those of its charges add up to ${describeUsd(nanoUsd(sum.providerCost))}`
  if (stored.chargesWithoutCost !== sum.chargesWithoutCost)
    return `has ${stored.chargesWithoutCost} charges without a provider cost, but there are ${sum.chargesWithoutCost}`
  return stored.first === sum.first && stored.latest === sum.latest
    ? undefined
    : `names charge rows ${stored.first} and ${stored.latest} as its first and latest, but those are ${sum.first} and ${sum.latest}`
}

const labelOf = {
  charges: 'charges',
  inputTokens: 'input tokens',
  outputTokens: 'output tokens',
  images: 'images',
  durationMs: 'milliseconds of video',
} as const satisfies Partial<Record<keyof UsageTotals, string>>
const measures = Object.keys(labelOf) as (keyof typeof labelOf)[]
