import { formatId } from '../../domain/ids.ts'
import { formatUsd, subtractUsd, ZERO } from '../../domain/money.ts'
import { listUsage as listEntries, type UsageEntry } from '../../gateway/admin/list-usage.ts'
import type { RefundLine, UsageLine, LossLine } from '../../gateway/ports/ledger.ts'
import { attributionJson, idPrefixOf, totalsJson, usageJson, usagePage } from '../account/usage.ts'
import type { BufferedReply } from '../request-context.ts'
import { pageOf, readTimeRange, rowsBefore } from '../list-query.ts'
import { jobIdPrefix } from '../../domain/jobs/job.ts'
import { accountOf } from './accounts.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from './query.ts'
import { instant } from './instant.ts'

/**
 * The charged requests and jobs of one account (`?account=`) or of all accounts, and their refunds, each at the time at
 * which it was made. `?from=` and `?to=` limit the time. With an account and a range, the reply has the totals.
 */
export async function listUsage({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query, ['account', 'from', 'to'])
  const between = readTimeRange(query, ports.clock.now())
  const named = query.get('account')
  const account = named === null ? undefined : await accountOf({ account: named }, ports)
  const entries = await listEntries(account?.id, usagePage(asked, between), ports.ledger)
  const names = await publicNames(entries.map(accountIdOf), ports)
  const page = pageOf(entries, asked.limit, {
    cursorOf: entry => entry.cursor,
    rowOf: entry => entryBody(entry, names),
  })
  if (account === undefined || between === undefined) return adminReply(page)
  const totals = await ports.ledger.usageTotals(account.id, between)
  return adminReply({ ...page, totals: totalsJson(between, totals) })
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
    created_at: new Date(atMs).toISOString(),
    ...payerBody(accountId, apiKeyId, names),
  }
}

function payerBody(accountId: number, apiKeyId: number, { accounts, accountNames, keys }: PublicNames) {
  return {
    account: accounts.get(accountId) ?? null,
    account_name: accountNames.get(accountId) ?? null,
    key: keys.get(apiKeyId) ?? null,
  }
}

/** The prefix of the id of a loss, by its kind. */
const lossIdPrefix = { text: 'req', ...jobIdPrefix } as const

/** One page of the jobs and attempts that cost the operator money and that no customer paid for, newest first. */
export async function listLosses({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
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
