import type { UsageLine } from '../../gateway/ports/ledger.ts'
import { usageJson } from '../account/usage.ts'
import { accountOf } from './accounts.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { pageOf, rowsBefore } from '../page.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from './query.ts'

/** The charged requests of one account (`?account=`) or of all accounts. */
export async function listUsage({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query, ['account'])
  const named = query.get('account')
  const account = named === null ? undefined : await accountOf({ account: named }, ports)
  const lines = await ports.ledger.usage(account?.id, rowsBefore(asked))
  const names = await publicNames(lines, ports)
  return adminReply(
    pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: line => usageBody(line, names) }),
  )
}

function usageBody(line: UsageLine, { accounts, keys }: PublicNames): object {
  return {
    ...usageJson(line),
    provider: line.provider,
    account: accounts.get(line.accountId) ?? null,
    key: keys.get(line.apiKeyId) ?? null,
  }
}
