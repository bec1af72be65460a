import type { Account } from '../../domain/accounts/account.ts'
import type { UsageLine } from '../../gateway/ports/ledger.ts'
import { usageJson } from '../account/usage.ts'
import { accountOf } from './accounts.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { pageOf, rowsBefore } from '../page.ts'
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

type PublicNames = {
  readonly accounts: ReadonlyMap<number, string>
  readonly keys: ReadonlyMap<number, string>
}

/** The public ids of the accounts and keys on one page. */
async function publicNames(lines: readonly UsageLine[], ports: AdminPorts): Promise<PublicNames> {
  const ids = [...new Set(lines.map(({ accountId }) => accountId))]
  const found = await Promise.all(
    ids.map(async id => {
      const [account] = await ports.accounts.listAccounts({ limit: 1, afterId: id - 1 })
      return account?.id === id ? [account] : []
    }),
  )
  const accounts: readonly Account[] = found.flat()
  const keys = await Promise.all(accounts.map(({ id }) => ports.accounts.listKeys(id)))
  return {
    accounts: new Map(accounts.map(({ id, publicId }) => [id, publicId])),
    keys: new Map(keys.flat().map(({ id, publicId }) => [id, publicId])),
  }
}

function usageBody(line: UsageLine, { accounts, keys }: PublicNames): object {
  return {
    ...usageJson(line),
    provider: line.provider,
    account: accounts.get(line.accountId) ?? null,
    key: keys.get(line.apiKeyId) ?? null,
  }
}
