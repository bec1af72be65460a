import { formatUsd } from '../../domain/money.ts'
import type { UsageLine } from '../../gateway/ports/ledger.ts'
import { totalsJson, usageJson, usagePage } from '../account/usage.ts'
import { accountOf } from './accounts.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { pageOf } from '../page.ts'
import { readTimeRange } from '../time-range.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from './query.ts'

/**
 * The charged requests and jobs of one account (`?account=`) or of all accounts, and of a time range if one is given.
 * With an account and a range, the reply has the totals.
 */
export async function listUsage({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query, ['account', 'from', 'to'])
  const between = readTimeRange(query, ports.clock.now())
  const named = query.get('account')
  const account = named === null ? undefined : await accountOf({ account: named }, ports)
  const lines = await ports.ledger.usage(account?.id, usagePage(asked, between))
  const names = await publicNames(lines, ports)
  const page = pageOf(lines, asked.limit, {
    cursorOf: line => line.cursor,
    rowOf: line => usageBody(line, names),
  })
  if (account === undefined || between === undefined) return adminReply(page)
  const totals = await ports.ledger.usageTotals(account.id, between)
  return adminReply({ ...page, totals: totalsJson(between, totals) })
}

function usageBody(line: UsageLine, { accounts, accountNames, keys }: PublicNames): object {
  return {
    ...usageJson(line),
    provider: line.provider,
    provider_cost_usd: line.providerCost === null ? null : formatUsd(line.providerCost),
    account: accounts.get(line.accountId) ?? null,
    account_name: accountNames.get(line.accountId) ?? null,
    key: keys.get(line.apiKeyId) ?? null,
  }
}
