import { describeUsd } from '../../../domain/money.ts'
import type { UsageTotals } from '../../../gateway/ports/ledger.ts'
import {
  addTotals,
  dayOf,
  startOfDay,
  totalsOfRow,
  usageDayFrom,
  type ChargeMeasures,
  type UsageDay,
  type UsageDayRow,
} from '../usage-days.ts'
import { findingOf, type Finding } from './findings.ts'

/**
 * Charges of a day come after those of the day before, unless the clock was set back or a transaction crosses midnight.
 */
const DAYS_OPEN = 2

export type MeasuredCharge = ChargeMeasures & { id: bigint; account_id: bigint; at_ms: bigint }

/** The usage of each account on one day. */
type Day = Map<number, UsageDay>

/**
 * The stored usage of each account and day must be the sums of its charges. The charges are added up in order. A day is
 * compared when later days have begun. A day that does not match, or that gets a charge after its comparison, is
 * doubtful: it is added up again at the end, because charges may have been written during the check.
 */
export class UsageDaysCheck {
  readonly #open = new Map<number, Day>()
  readonly #compared = new Set<number>()
  readonly #doubtful = new Set<number>()

  /** The days to add up again. */
  get doubtful(): Iterable<number> {
    return this.#doubtful
  }

  add(row: MeasuredCharge): void {
    const day = dayOf(Number(row.at_ms))
    if (this.#compared.has(day)) this.#doubtful.add(day)
    else addTo(this.#open, day, row)
  }

  /** The days to compare now. `isDone` says that there are no more charges. */
  due(isDone: boolean): readonly number[] {
    const days = [...this.#open.keys()]
    const newest = Math.max(...days)
    return isDone ? days : days.filter(day => day <= newest - DAYS_OPEN)
  }

  /** Compares a due day with its stored rows. */
  compare(day: number, stored: readonly UsageDayRow[]): void {
    const sums = this.#open.get(day) ?? new Map<number, UsageDay>()
    if (wrongUsages(storedDay(stored), sums).length > 0) this.#doubtful.add(day)
    this.#open.delete(day)
    this.#compared.add(day)
  }

  /** Notes that a day has stored rows. If no charge is of that day, it is doubtful. */
  noteStored(day: number): void {
    if (!this.#compared.has(day)) this.#doubtful.add(day)
  }
}

/** What is wrong in a day, from all of its charges and stored rows, which were read in one step. */
export function findingsOfDay(
  day: number,
  stored: readonly UsageDayRow[],
  charges: readonly MeasuredCharge[],
): readonly Finding[] {
  const days = new Map<number, Day>()
  for (const row of charges) addTo(days, day, row)
  const date = new Date(startOfDay(day)).toISOString().slice(0, 10)
  return wrongUsages(storedDay(stored), days.get(day) ?? new Map()).map(({ accountId, problem }) =>
    findingOf(accountId, `the usage of ${date} ${problem}`),
  )
}

function storedDay(rows: readonly UsageDayRow[]): Day {
  return new Map(rows.map(row => [Number(row.account_id), usageDayFrom(row)]))
}

function addTo(days: Map<number, Day>, day: number, row: MeasuredCharge): void {
  const sums = days.get(day) ?? new Map<number, UsageDay>()
  days.set(day, sums)
  const accountId = Number(row.account_id)
  const before = sums.get(accountId)
  const totals = totalsOfRow(row)
  sums.set(accountId, {
    first: before?.first ?? row.id,
    latest: row.id,
    totals: before === undefined ? totals : addTotals(before.totals, totals),
  })
}

type WrongUsage = { readonly accountId: number; readonly problem: string }

function wrongUsages(stored: Day, sums: Day): readonly WrongUsage[] {
  const accountIds = [...new Set([...stored.keys(), ...sums.keys()])]
  return accountIds.flatMap(accountId => {
    const problem = problemOfUsage(stored.get(accountId), sums.get(accountId))
    return problem === undefined ? [] : [{ accountId, problem }]
  })
}

function problemOfUsage(stored: UsageDay | undefined, sum: UsageDay | undefined): string | undefined {
  if (sum === undefined) return 'is stored, but there are no charges'
  if (stored === undefined) return 'is missing'
  const wrong = measures.find(measure => stored.totals[measure] !== sum.totals[measure])
  if (wrong !== undefined)
    return `has ${stored.totals[wrong]} ${labelOf[wrong]}, but its charges add up to ${sum.totals[wrong]}`
  if (stored.totals.cost !== sum.totals.cost)
    return `costs ${describeUsd(stored.totals.cost)}, but its charges add up to ${describeUsd(sum.totals.cost)}`
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
