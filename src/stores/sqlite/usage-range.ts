import type { Database, Statement } from 'bun:sqlite'
import type { ChargeSums, TimeRange } from '../../gateway/ports/ledger-reports.ts'
import {
  addSums,
  ALL_SUMS,
  chargeSumsFrom,
  dayOf,
  NO_SUMS,
  startOfDay,
  type UsageSumsRow,
} from '../books/usage-days.ts'
import { areCostsAdded, isUsageRebuilt } from './usage-days.ts'

/** The row ids between which all charges of a time range are. */
export type Bounds = { readonly first: bigint; readonly latest: bigint }

type BoundsRow = { first: bigint | null; latest: bigint | null }

/** Finds the charges of a time range with the table `usage_days`, because charges have no index by time. */
export class UsageRange {
  readonly #database: Database
  readonly #selectSums: Statement<UsageSumsRow, [number, number]>
  readonly #selectBounds: Statement<BoundsRow, [number, number]>
  readonly #selectBoundsOfAll: Statement<BoundsRow, [number]>

  constructor(database: Database) {
    this.#database = database
    this.#selectSums = database.prepare(
      `SELECT ${ALL_SUMS} FROM usage_days WHERE day = ? AND account_id = ? GROUP BY account_id`,
    )
    const bounds = 'SELECT min(first_charge_id) AS first, max(latest_charge_id) AS latest FROM account_days'
    this.#selectBounds = database.prepare(`${bounds} WHERE day = ? AND account_id = ?`)
    this.#selectBoundsOfAll = database.prepare(`${bounds} WHERE day = ?`)
  }

  /** The bounds of one account's charges, or of all charges if it is undefined. Undefined if there are none. */
  async boundsOf(accountId: number | undefined, range: TimeRange): Promise<Bounds | undefined> {
    let bounds: Bounds | undefined
    for (const day of daysOf(range)) {
      const found = this.#boundsOfDay(accountId, day)
      if (found !== undefined) bounds = bounds === undefined ? found : joined(bounds, found)
      // A day of all accounts may have thousands of rows.
      if (accountId === undefined) await new Promise(setImmediate)
    }
    return bounds
  }

  /**
   * The sums of the days of a range. `sumPart` returns the sums of a day that is only partly in the range. While an
   * upgrade adds up earlier charges, it does so for each day.
   */
  async sumsOf(
    accountId: number,
    range: TimeRange,
    sumPart: (day: Bounds, part: TimeRange) => Promise<ChargeSums>,
  ): Promise<ChargeSums> {
    const isAddedUp = isUsageRebuilt(this.#database) && areCostsAdded(this.#database)
    let sums = NO_SUMS
    for (const day of daysOf(range)) {
      const part = {
        fromMs: Math.max(range.fromMs, startOfDay(day)),
        toMs: Math.min(range.toMs, startOfDay(day + 1)),
      }
      const isWhole = part.fromMs === startOfDay(day) && part.toMs === startOfDay(day + 1)
      if (isWhole && isAddedUp) {
        const row = this.#selectSums.get(day, accountId)
        if (row !== null) sums = addSums(sums, chargeSumsFrom(row))
        continue
      }
      const found = this.#boundsOfDay(accountId, day)
      if (found !== undefined) sums = addSums(sums, await sumPart(found, part))
    }
    return sums
  }

  #boundsOfDay(accountId: number | undefined, day: number): Bounds | undefined {
    const row =
      accountId === undefined ? this.#selectBoundsOfAll.get(day) : this.#selectBounds.get(day, accountId)
    const { first = null, latest = null } = row ?? {}
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
