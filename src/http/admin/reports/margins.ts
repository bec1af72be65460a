import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd, subtractUsd, ZERO } from '../../../domain/money.ts'
import { MS_PER_DAY, instant } from '../../../domain/time.ts'
import {
  marginGroups,
  marginOf,
  namedGroups,
  reportMargins,
  type Margin,
} from '../../../gateway/admin/reports/margins.ts'
import type { ChargeSums, NetTotals } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { readDayRange } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from '../accounts/accounts.ts'
import { wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { readAdminPage } from '../query.ts'

/**
 * What customers paid and what it cost, by model, provider, account, key, project or day (`?by=`), in the order of
 * these, of all accounts or of `?account=`. `?from=` and `?to=` are the starts of days in UTC; without them, the report
 * has the current month. `?sort=revenue` puts the groups with the most revenue first. The totals are those of all
 * groups.
 */
export async function getMargins({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['by', 'account', 'from', 'to', 'sort'])
  const by = marginGroups.find(group => group === (query.get('by') ?? 'model'))
  if (by === undefined)
    throw new GatewayError('invalid_field', `"by" must be one of ${marginGroups.join(', ')}.`, {
      param: 'by',
    })
  const isByRevenue = readSort(query)
  const { fromMs, toMs } = readDayRange(query, ports.clock.now())
  const days = { firstDay: fromMs / MS_PER_DAY, lastDay: toMs / MS_PER_DAY - 1 }
  const named = query.get('account')
  const accountId = named === null ? undefined : (await accountOf({ account: named }, ports)).id
  const { groups, names, totals } = await reportMargins({ by, ...days, accountId }, ports)
  const nameOf = (group: string | null) =>
    namedGroups.some(name => name === by) ? { [`${by}_name`]: names.get(group ?? '') ?? null } : {}
  const rowOf = ([group, margin]: GroupMargin) => ({ [by]: group, ...nameOf(group), ...marginJson(margin) })
  const { shown, next } = (isByRevenue ? pageByRevenue : pageByName)([...groups], { limit, cursor })
  return adminReply({
    from: instant(fromMs),
    to: instant(toMs),
    data: shown.map(rowOf),
    has_more: next !== null,
    next,
    totals: marginJson(totals),
  })
}

type GroupMargin = readonly [group: string | null, margin: Margin]
type PageOfGroups = { readonly shown: readonly GroupMargin[]; readonly next: string | null }
type AskedPage = { readonly limit: number; readonly cursor?: string | undefined }

function readSort(query: URLSearchParams): boolean {
  const sort = query.get('sort') ?? 'name'
  if (sort !== 'name' && sort !== 'revenue') throw wrongField('sort', 'must be name or revenue')
  return sort === 'revenue'
}

/** The cursor of a page is the last group before it. The group without a name is the last one. */
function pageByName(groups: readonly GroupMargin[], { limit, cursor }: AskedPage): PageOfGroups {
  const after = groups.filter(([group]) => cursor === undefined || group === null || group > cursor)
  const shown = after.slice(0, limit)
  return { shown, next: after.length > limit ? (shown.at(-1)?.[0] ?? null) : null }
}

/** The cursor of a page is the number of groups before it, because groups can have the same revenue. */
function pageByRevenue(groups: readonly GroupMargin[], { limit, cursor = '0' }: AskedPage): PageOfGroups {
  if (!/^\d{1,9}$/.test(cursor)) throw wrongField('cursor', 'must be the "next" of a page with the same sort')
  const start = Number(cursor)
  // Groups with the same revenue stay in the order of their names.
  const sorted = groups.toSorted(([, left], [, right]) => compare(right.revenue, left.revenue))
  const shown = sorted.slice(start, start + limit)
  return { shown, next: sorted.length > start + limit ? String(start + limit) : null }
}

function compare(left: bigint, right: bigint): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

export function marginJson(margin: Margin) {
  return {
    charges: margin.charges,
    revenue_usd: formatUsd(margin.revenue),
    provider_cost_usd: formatUsd(margin.providerCost),
    losses_usd: formatUsd(margin.losses),
    margin_usd: formatUsd(marginOf(margin)),
    charges_without_cost: margin.chargesWithoutCost,
    losses_without_cost: margin.lossesWithoutCost,
  }
}

/** What only the operator sees of the sums of charges. Their margin has no losses: these belong to no charge. */
export function operatorSumsJson(sums: ChargeSums & Partial<NetTotals>) {
  const { cost, compensated, refunded = ZERO, providerCost, chargesWithoutCost } = sums
  const revenue = subtractUsd(cost, addUsd(compensated, refunded))
  return {
    compensated_usd: formatUsd(compensated),
    provider_cost_usd: formatUsd(providerCost),
    margin_usd: formatUsd(marginOf({ revenue, providerCost, losses: ZERO })),
    charges_without_cost: chargesWithoutCost,
  }
}
