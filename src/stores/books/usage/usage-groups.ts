import { groupOf, isOf, type AttributedRequest } from '../../../domain/ledger/attribution.ts'
import { addUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type {
  ChargeSums,
  GroupedUsage,
  NetTotals,
  UsageGroup,
  UsageGroups,
} from '../../../gateway/ports/ledger/ledger-reports.ts'
import { addSums, NO_SUMS } from './usage-days.ts'

type Asked = Pick<GroupedUsage, 'grouping' | 'matching' | 'limit' | 'after'>

const NOTHING: NetTotals = { ...NO_SUMS, refunded: ZERO }

/**
 * Adds up charges and refunds by group. Only the groups of one page are in memory: the account decides how many there
 * are. Whenever there are twice as many as the page has, the later half is dropped. A dropped value can come again, but
 * it is never on the page, because as many values as the page has are before it. So each group of the page has all of
 * its charges.
 */
export class GroupSums {
  readonly #asked: Asked
  readonly #groups = new Map<string, UsageGroup>()
  #hasMore = false
  /** Of requests without the tag or the user. */
  #withoutValue: UsageGroup | undefined
  #totals = NOTHING

  constructor(asked: Asked) {
    this.#asked = asked
  }

  addCharge(request: AttributedRequest, charge: ChargeSums): void {
    this.#add(request, { ...charge, refunded: ZERO })
  }

  /** A refund of a charge of this request. */
  addRefund(request: AttributedRequest, refunded: NanoUsd): void {
    this.#add(request, { ...NO_SUMS, refunded })
  }

  page(): UsageGroups {
    const { limit } = this.#asked
    if (this.#groups.size > limit) this.#dropLater()
    const groups = [...this.#groups].sort(byValue).map(([, group]) => group)
    if (!this.#hasMore && this.#withoutValue !== undefined) {
      if (groups.length < limit) groups.push(this.#withoutValue)
      else this.#hasMore = true
    }
    return { groups, hasMore: this.#hasMore, totals: this.#totals }
  }

  #add(request: AttributedRequest, sums: NetTotals): void {
    const { matching, grouping, limit, after } = this.#asked
    if (!isOf(request, matching)) return
    this.#totals = addNet(this.#totals, sums)
    if (grouping === undefined) return
    const value = groupOf(request, grouping)
    if (value === null) {
      this.#withoutValue = { value, ...addNet(this.#withoutValue ?? NOTHING, sums) }
      return
    }
    if (after !== undefined && value <= after) return
    this.#groups.set(value, { value, ...addNet(this.#groups.get(value) ?? NOTHING, sums) })
    if (this.#groups.size > 2 * limit) this.#dropLater()
  }

  /** Leaves the groups of the page. */
  #dropLater(): void {
    const { limit } = this.#asked
    const values = [...this.#groups.keys()].sort()
    for (const value of values.slice(limit)) this.#groups.delete(value)
    this.#hasMore = true
  }
}

function addNet(left: NetTotals, right: NetTotals): NetTotals {
  return { ...addSums(left, right), refunded: addUsd(left.refunded, right.refunded) }
}

/** In the order of code units, like `sort` without a function. */
function byValue([left]: readonly [string, UsageGroup], [right]: readonly [string, UsageGroup]): number {
  return left < right ? -1 : 1
}
