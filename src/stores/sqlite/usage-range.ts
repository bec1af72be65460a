import type { Database, Statement } from 'bun:sqlite'
import type { TimeRange, UsageTotals } from '../../gateway/ports/ledger-reports.ts'
import {
  ACCOUNT_SUMS,
  addTotals,
  dayOf,
  NO_TOTALS,
  startOfDay,
  usageDayFrom,
  type UsageDay,
  type UsageDayRow,
} from '../books/usage-days.ts'

/** The row ids between which all charges of a time range are. */
export type Bounds = { readonly first: bigint; readonly latest: bigint }

/** Finds the charges of a time range with the table `usage_days`, because charges have no index by time. */
export class UsageRange {
  readonly #select: Statement<UsageDayRow, [number, number]>
  readonly #selectBounds: Statement<{ first: bigint | null; latest: bigint | null }, [number]>

  constructor(database: Database) {
    this.#select = database.prepare(`SELECT ${ACCOUNT_SUMS} FROM account_days WHERE day = ? AND account_id = ?
      GROUP BY account_id`)
    this.#selectBounds = database.prepare(
      'SELECT min(first_charge_id) AS first, max(latest_charge_id) AS latest FROM account_days WHERE day = ?',
    )
  }

  /** The bounds of one account's charges, or of all charges if it is undefined. Undefined if there are none. */
  async boundsOf(accountId: number | undefined, range: TimeRange): Promise<Bounds | undefined> {
    let bounds: Bounds | undefined
    for (const day of daysOf(range)) {
      const found = accountId === undefined ? this.#boundsOfAll(day) : this.dayOf(accountId, day)
      if (found !== undefined) bounds = bounds === undefined ? found : joined(bounds, found)
      // A day of all accounts may have thousands of rows.
      if (accountId === undefined) await new Promise(setImmediate)
    }
    return bounds
  }

  /** The totals of the days of a range. `sumPart` returns the totals of a day that is only partly in the range. */
  async totalsOf(
    accountId: number,
    range: TimeRange,
    sumPart: (day: UsageDay, part: TimeRange) => Promise<UsageTotals>,
  ): Promise<UsageTotals> {
    let totals = NO_TOTALS
    for (const day of daysOf(range)) {
      const found = this.dayOf(accountId, day)
      if (found === undefined) continue
      const part = {
        fromMs: Math.max(range.fromMs, startOfDay(day)),
        toMs: Math.min(range.toMs, startOfDay(day + 1)),
      }
      const isWhole = part.fromMs === startOfDay(day) && part.toMs === startOfDay(day + 1)
      totals = addTotals(totals, isWhole ? found.totals : await sumPart(found, part))
    }
    return totals
  }

  dayOf(accountId: number, day: number): UsageDay | undefined {
    const row = this.#select.get(day, accountId)
    return row === null ? undefined : usageDayFrom(row)
  }

  #boundsOfAll(day: number): Bounds | undefined {
    const { first = null, latest = null } = this.#selectBounds.get(day) ?? {}
    return first === null || latest === null ? undefined : { first, latest }
  }
}

function daysOf({ fromMs, toMs }: TimeRange): readonly number[] {
  const first = dayOf(fromMs)
  return Array.from({ length: dayOf(toMs - 1) - first + 1 }, (_, index) => first + index)
}

function joined(left: Bounds, right: Bounds): Bounds {
  return {
    first: left.first < right.first ? left.first : right.first,
    latest: left.latest > right.latest ? left.latest : right.latest,
  }
}
