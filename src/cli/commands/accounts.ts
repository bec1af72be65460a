import { parseUsd } from '../../domain/money.ts'
import { adminPath, type Ask } from '../ask.ts'
import { CliError, table, type Outcome } from '../outcome.ts'

type AccountReply = {
  readonly id: string
  readonly name: string
  readonly available_usd: string
  readonly held_usd: string
}
type KeyReply = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly revoked_at: string | null
}
type GrantReply = { readonly id: string; readonly amount_usd: string; readonly available_usd: string }
type Page<Row> = { readonly data: readonly Row[]; readonly next: string | null }

export async function createAccount(
  ask: Ask,
  { name, grantUsd }: { readonly name: string; readonly grantUsd: string | undefined },
): Promise<Outcome> {
  // Refused before the account is made: half of this command would be worse than none.
  if (grantUsd !== undefined) checkAmount(grantUsd)
  const account = await ask<{ id: string; name: string }>({
    method: 'POST',
    path: 'accounts',
    json: { name },
  })
  if (grantUsd === undefined) {
    return { value: account, text: `Created the account ${account.name} (${account.id}).` }
  }
  const grant = await ask<GrantReply>({
    method: 'POST',
    path: adminPath('accounts', account.id, 'grants'),
    json: { amount_usd: grantUsd },
  })
  return {
    value: { ...account, available_usd: grant.available_usd },
    text: `Created the account ${account.name} (${account.id}) with ${grant.available_usd} USD.`,
  }
}

export async function listAccounts(ask: Ask): Promise<Outcome> {
  const accounts = await allPages<AccountReply>(ask, 'accounts')
  const rows = accounts.map(({ id, name, available_usd, held_usd }) => [name, id, available_usd, held_usd])
  return {
    value: { data: accounts },
    text: accounts.length === 0 ? 'No accounts.' : table(['NAME', 'ID', 'AVAILABLE USD', 'HELD USD'], rows),
  }
}

export async function createKey(
  ask: Ask,
  { account, name }: { readonly account: string; readonly name: string | undefined },
): Promise<Outcome> {
  const key = await ask<KeyReply & { readonly key: string }>({
    method: 'POST',
    path: adminPath('accounts', account, 'keys'),
    json: name === undefined ? {} : { name },
  })
  return {
    value: key,
    text: key.key,
    note: `This is ${key.id}. It is not shown again: only its hash is kept.`,
  }
}

export async function listKeys(ask: Ask, account: string): Promise<Outcome> {
  const { data } = await ask<{ readonly data: readonly KeyReply[] }>({
    method: 'GET',
    path: adminPath('accounts', account, 'keys'),
  })
  const rows = data.map(key => [
    `${key.prefix}…`,
    key.id,
    key.name,
    key.created_at,
    key.revoked_at === null ? 'works' : `revoked ${key.revoked_at}`,
  ])
  return {
    value: { data },
    text: data.length === 0 ? 'No keys.' : table(['KEY', 'ID', 'NAME', 'CREATED', 'STATE'], rows),
  }
}

export async function revokeKey(ask: Ask, keyId: string): Promise<Outcome> {
  const key = await ask<KeyReply>({ method: 'POST', path: adminPath('keys', keyId, 'revoke') })
  return { value: key, text: `Revoked ${key.prefix}… (${key.id}). Requests with it are refused from now on.` }
}

export async function grant(
  ask: Ask,
  request: {
    readonly account: string
    readonly amountUsd: string
    readonly note: string | undefined
    readonly source: string
    readonly idempotencyKey: string | undefined
  },
): Promise<Outcome> {
  checkAmount(request.amountUsd)
  const { account, amountUsd, note, source, idempotencyKey } = request
  const granted = await ask<GrantReply>({
    method: 'POST',
    path: adminPath('accounts', account, 'grants'),
    json: { amount_usd: amountUsd, source, ...(note === undefined ? {} : { note }) },
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  })
  return {
    value: granted,
    text: `Credited ${granted.amount_usd} USD. ${account} has ${granted.available_usd} USD available.`,
  }
}

export async function balance(ask: Ask, account: string): Promise<Outcome> {
  const found = await ask<AccountReply>({ method: 'GET', path: adminPath('accounts', account) })
  return {
    value: found,
    text: `available  ${found.available_usd} USD\nheld       ${found.held_usd} USD`,
  }
}

export async function statement(
  ask: Ask,
  { account, limit, cursor }: { readonly account: string; readonly limit: string; readonly cursor?: string },
): Promise<Outcome> {
  type Line = {
    readonly id: string
    readonly kind: string
    readonly amount_usd: string
    readonly ref: string
    readonly note: string | null
    readonly at: string
  }
  const query = new URLSearchParams({ limit, ...(cursor === undefined ? {} : { cursor }) })
  const page = await ask<Page<Line>>({
    method: 'GET',
    path: `${adminPath('accounts', account, 'statement')}?${query}`,
  })
  const rows = page.data.map(line => [line.at, line.kind, line.amount_usd, line.ref, line.note ?? ''])
  return {
    value: page,
    text: rows.length === 0 ? 'No movements.' : table(['AT', 'KIND', 'USD', 'REF', 'NOTE'], rows),
    ...(page.next === null ? {} : { note: `Older movements: --cursor ${page.next}` }),
  }
}

async function allPages<Row>(ask: Ask, path: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '?limit=200' : `?limit=200&cursor=${cursor}`
    const page: Page<Row> = await ask<Page<Row>>({ method: 'GET', path: path + query })
    rows.push(...page.data)
    cursor = page.next
  }
  return rows
}

function checkAmount(text: string): void {
  const amount = parseUsd(text)
  if (amount === undefined || amount <= 0n) {
    throw new CliError(`"${text}" is not an amount of dollars above zero, such as 12.5.`, {
      exitCode: 2,
      code: 'invalid_argument',
    })
  }
}
