import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { MS_PER_DAY, instant } from '../../../domain/time.ts'
import type { ChargeSums } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { usageGrains, type ProjectUsage } from '../../../gateway/ports/access/projects.ts'
import { readDayRange, refuseUnknown } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { operatorSumsJson } from './margins.ts'
import { projectOf } from '../accounts/projects.ts'

/**
 * The charges of the keys of a project, added up by day, model or key (`?by=`). `?from=` and `?to=` are the starts of
 * days in UTC; without them, the report has the current month. Refunds are not in it.
 */
export async function getProjectUsage(
  { params, query }: AdminCall,
  ports: ReportPorts,
): Promise<BufferedReply> {
  refuseUnknown(query, ['by', 'from', 'to'])
  const by = usageGrains.find(grain => grain === (query.get('by') ?? 'day'))
  if (by === undefined)
    throw new GatewayError('invalid_field', `"by" must be one of ${usageGrains.join(', ')}.`, { param: 'by' })
  const { fromMs, toMs } = readDayRange(query, ports.clock.now())
  const project = await projectOf(params, ports)
  const days = { firstDay: fromMs / MS_PER_DAY, lastDay: toMs / MS_PER_DAY - 1 }
  const rows = await ports.projects.usage(project, { by, ...days })
  return adminReply({
    project: project.publicId,
    from: instant(fromMs),
    to: instant(toMs),
    data: rows.map(usage => ({ [by]: groupOf(usage), ...sumsJson(usage) })),
    totals: totalsJson(rows),
  })
}

/** A day as 2026-11-23, a model, or the id of a key. */
function groupOf({ group }: ProjectUsage): string {
  return typeof group === 'number' ? instant(group * MS_PER_DAY).slice(0, 10) : group
}

function sumsJson(sums: ChargeSums) {
  return {
    charges: sums.charges,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    images: sums.images,
    seconds: sums.durationMs / 1000,
    cost_usd: formatUsd(sums.cost),
    ...operatorSumsJson(sums),
  }
}

/** The sums of all rows, which have the same members without any row. */
function totalsJson(rows: readonly ProjectUsage[]) {
  const count = (of: (usage: ProjectUsage) => number) => rows.reduce((sum, usage) => sum + of(usage), 0)
  const amount = (of: (usage: ProjectUsage) => NanoUsd) =>
    rows.reduce((sum, usage) => addUsd(sum, of(usage)), ZERO)
  return sumsJson({
    charges: count(usage => usage.charges),
    inputTokens: count(usage => usage.inputTokens),
    outputTokens: count(usage => usage.outputTokens),
    images: count(usage => usage.images),
    durationMs: count(usage => usage.durationMs),
    cost: amount(usage => usage.cost),
    compensated: amount(usage => usage.compensated),
    providerCost: amount(usage => usage.providerCost),
    chargesWithoutCost: count(usage => usage.chargesWithoutCost),
  })
}
