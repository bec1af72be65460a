import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd, subtractUsd, ZERO } from '../../../domain/money.ts'
import {
  marginGroups,
  marginOf,
  namedGroups,
  reportMargins,
  type Margin,
} from '../../../gateway/admin/reports/margins.ts'
import type { ChargeSums, NetTotals } from '../../../gateway/ports/ledger-reports.ts'
import { MS_PER_DAY, readDayRange } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from '../accounts/accounts.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { instant } from '../instant.ts'
import { readAdminPage } from '../query.ts'

/**
 * What customers paid and what it cost, by model, provider, account, key, project or day (`?by=`), in the order of
 * these, of all accounts or of `?account=`. `?from=` and `?to=` are the starts of days in UTC; without them, the report
 * has the current month. The cursor of a page is the last group before it, and the totals are those of all groups.
 */
export async function getMargins({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['by', 'account', 'from', 'to'])
  const by = marginGroups.find(group => group === (query.get('by') ?? 'model'))
  if (by === undefined)
    throw new GatewayError('invalid_field', `"by" must be one of ${marginGroups.join(', ')}.`, {
      param: 'by',
    })
  const { fromMs, toMs } = readDayRange(query, ports.clock.now())
  const days = { firstDay: fromMs / MS_PER_DAY, lastDay: toMs / MS_PER_DAY - 1 }
  const named = query.get('account')
  const accountId = named === null ? undefined : (await accountOf({ account: named }, ports)).id
  const { groups, names, totals } = await reportMargins({ by, ...days, accountId }, ports)
  const nameOf = (group: string | null) =>
    namedGroups.some(name => name === by) ? { [`${by}_name`]: names.get(group ?? '') ?? null } : {}
  // The group without a name is the last one.
  const after = [...groups].filter(([group]) => cursor === undefined || group === null || group > cursor)
  const shown = after.slice(0, limit)
  const hasMore = after.length > limit
  return adminReply({
    from: instant(fromMs),
    to: instant(toMs),
    data: shown.map(([group, margin]) => ({ [by]: group, ...nameOf(group), ...marginJson(margin) })),
    has_more: hasMore,
    next: hasMore ? (shown.at(-1)?.[0] ?? null) : null,
    totals: marginJson(totals),
  })
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
