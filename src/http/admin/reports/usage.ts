import { formatId } from '../../../domain/ids.ts'
import { formatUsd, subtractUsd, ZERO } from '../../../domain/money.ts'
import { listUsage as listEntries, type UsageEntry } from '../../../gateway/admin/reports/list-usage.ts'
import type {
  LossLine,
  NetTotals,
  RefundLine,
  UsageLine,
} from '../../../gateway/ports/ledger/ledger-reports.ts'
import {
  groupedUsage,
  isGrouped,
  readSelection,
  selectedTotals,
  selectionParameters,
  type UsageSelection,
} from '../../account/grouped-usage.ts'
import { keysOfProject } from '../../account/projects-of-keys.ts'
import {
  attributionJson,
  idPrefixOf,
  sumsJson,
  totalsJson,
  usageJson,
  usagePage,
} from '../../account/usage.ts'
import type { BufferedReply } from '../../request-context.ts'
import { pageOf, readTimeRange, rowsBefore, wrongParameter, type PageQuery } from '../../list-query.ts'
import { jobIdPrefix } from '../../../domain/jobs/job.ts'
import { instant } from '../../../domain/time.ts'
import { accountOf } from '../accounts/accounts.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from '../query.ts'
import { operatorSumsJson } from './margins.ts'

/**
 * The charged requests and jobs of one account (`?account=`) or of all accounts, and their refunds, each at the time at
 * which it was made. `?from=` and `?to=` limit the time. With an account and a range, the reply has the totals, and the
 * list can be limited and grouped by tag, user and project: each customer has its own tags.
 */
export async function listUsage({ query, request }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query, ['account', 'from', 'to', ...selectionParameters])
  const { ledger } = ports
  const { signal } = request
  const named = query.get('account')
  const account = named === null ? undefined : await accountOf({ account: named }, ports)
  const between = readTimeRange(query, ports.clock.now())
  if (account === undefined) {
    const selection = readSelection(query, between, undefined)
    if (selectionParameters.some(name => query.has(name)))
      throw wrongParameter('account', 'is missing; "group_by", "tag", "user" and "project" need an account')
    return adminReply(await pageOfUsage(undefined, asked, selection, ports))
  }
  const selection = readSelection(query, between, await keysOfProject(query, account.id, ports))
  if (isGrouped(selection))
    return adminReply(await groupedUsage(account.id, selection, { page: asked, signal, sumsOf }, ledger))
  const page = await pageOfUsage(account.id, asked, selection, ports)
  if (selection === undefined) return adminReply(page)
  const totals = await selectedTotals(account.id, selection, signal, ledger)
  return adminReply({ ...page, totals: totalsJson(selection.between, totals, sumsOf) })
}

function sumsOf(totals: NetTotals) {
  return { ...sumsJson(totals), ...operatorSumsJson(totals) }
}

async function pageOfUsage(
  accountId: number | undefined,
  asked: PageQuery,
  selection: UsageSelection | undefined,
  ports: ReportPorts,
) {
  const entries = await listEntries(accountId, usagePage(asked, selection), ports.ledger)
  const names = await publicNames(entries.map(accountIdOf), ports)
  return pageOf(entries, asked.limit, {
    cursorOf: entry => entry.cursor,
    rowOf: entry => entryBody(entry, names),
  })
}

function accountIdOf({ charge, refund }: UsageEntry) {
  return { accountId: (charge ?? refund).accountId }
}

function entryBody({ charge, refund }: UsageEntry, names: PublicNames): object {
  return charge === undefined ? refundBody(refund, names) : usageBody(charge, names)
}

function usageBody(line: UsageLine, names: PublicNames): object {
  const { provider, providerCost, accountId, apiKeyId } = line
  return {
    ...usageJson(line),
    provider,
    provider_cost_usd: providerCost === null ? null : formatUsd(providerCost),
    ...payerBody(accountId, apiKeyId, names),
  }
}

/** A refund has a negative cost, so that the costs of a list add up. */
function refundBody({ id, charge, accountId, amount, note, atMs }: RefundLine, names: PublicNames): object {
  const { route, model, provider, apiKeyId } = charge
  return {
    id: formatId('op', id),
    object: 'refund',
    charge: formatId(idPrefixOf[charge.kind], charge.id),
    route,
    model,
    provider,
    cost_usd: formatUsd(subtractUsd(ZERO, amount)),
    ...attributionJson(charge),
    note,
    created_at: instant(atMs),
    ...payerBody(accountId, apiKeyId, names),
  }
}

function payerBody(
  accountId: number,
  apiKeyId: number,
  { accounts, accountNames, keys, projectsOfKeys }: PublicNames,
) {
  return {
    account: accounts.get(accountId) ?? null,
    account_name: accountNames.get(accountId) ?? null,
    key: keys.get(apiKeyId) ?? null,
    project: projectsOfKeys.get(apiKeyId) ?? null,
  }
}

/** The prefix of the id of a loss, by its kind. */
const lossIdPrefix = { text: 'req', ...jobIdPrefix } as const

/** One page of the jobs and attempts that cost the operator money and that no customer paid for, newest first. */
export async function listLosses({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query)
  const lines = await ports.ledger.losses(rowsBefore(asked))
  const names = await publicNames(lines, ports)
  return adminReply(
    pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: line => lossBody(line, names) }),
  )
}

function lossBody(line: LossLine, { accounts, accountNames }: PublicNames): object {
  return {
    id: formatId(lossIdPrefix[line.kind], line.id),
    kind: line.kind,
    reason: line.reason,
    account: accounts.get(line.accountId) ?? null,
    account_name: accountNames.get(line.accountId) ?? null,
    model: line.model,
    provider: line.provider,
    loss_usd: formatUsd(line.loss),
    provider_cost_usd: line.providerCost === null ? null : formatUsd(line.providerCost),
    at: instant(line.atMs),
  }
}
