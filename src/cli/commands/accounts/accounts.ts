import { adminPath, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { moveMoney } from './money.ts'

/** An account in the admin API. */
export type AccountReply = {
  readonly id: string
  readonly name: string
  /** Null if the books of the account are damaged. */
  readonly available_usd: string | null
  readonly held_usd: string | null
  readonly sandbox_only: boolean
  readonly suspended_at: string | null
  readonly closed_at: string | null
  readonly replays: boolean
  readonly price_list: string | null
  readonly alert_below_usd: string | null
  readonly job_events: boolean
  readonly created_at: string | null
}
type FullAccountReply = AccountReply & { readonly contacts: readonly string[] }
type Page<Row> = { readonly data: readonly Row[]; readonly next: string | null }

/** Stands for an amount that cannot be read. */
const UNREADABLE = 'unreadable'

/** Creates an account and optionally credits it. Throws a `CliError` if the name is taken. */
export async function createAccount(
  ask: Ask,
  { name, credit }: { readonly name: string; readonly credit: FirstCredit | undefined },
): Promise<Outcome> {
  const account = await ask<{ id: string; name: string }>({
    method: 'POST',
    path: 'accounts',
    json: { name },
  })
  if (credit === undefined) {
    return { value: account, text: `Created account ${account.name} (${account.id}).` }
  }
  const { amountUsd, idempotencyKey } = credit
  const grant = await moveMoney(ask, {
    path: adminPath('accounts', account.id, 'grants'),
    json: { amount_usd: amountUsd },
    idempotencyKey,
    repeat: `"tollgate grant ${account.id} ${amountUsd}"`,
  })
  return {
    value: { ...account, available_usd: grant.available_usd, idempotency_key: idempotencyKey },
    text: `Created account ${account.name} (${account.id}) with ${grant.available_usd} USD.`,
  }
}

type FirstCredit = { readonly amountUsd: string; readonly idempotencyKey: string }

/** Lists all accounts with their balances. */
export async function listAccounts(ask: Ask): Promise<Outcome> {
  const accounts = await allPages<AccountReply>(ask, 'accounts')
  const rows = accounts.map(account => [
    account.name,
    account.id,
    account.available_usd ?? UNREADABLE,
    account.held_usd ?? UNREADABLE,
    stateOf(account),
  ])
  const head = ['NAME', 'ID', 'AVAILABLE USD', 'HELD USD', 'STATE']
  return { value: { data: accounts }, text: accounts.length === 0 ? 'No accounts.' : table(head, rows) }
}

/** Shows an account: its balance, and what its keys may do. */
export async function showAccount(ask: Ask, account: string): Promise<Outcome> {
  const found = await ask<FullAccountReply>({ method: 'GET', path: adminPath('accounts', account) })
  const lines = [
    ['name', found.name],
    ['id', found.id],
    ['state', stateOf(found)],
    ['available', usdText(found.available_usd)],
    ['held', usdText(found.held_usd)],
    ['models', found.sandbox_only ? 'only those of the sandbox' : 'all'],
    ['replays', found.replays ? 'on' : 'off'],
    ['prices', found.price_list ?? 'those of the catalog'],
    ['alert', found.alert_below_usd === null ? 'off' : `below ${found.alert_below_usd} USD`],
    ['contacts', found.contacts.length === 0 ? 'none' : found.contacts.join(', ')],
    ['job events', found.job_events ? 'on' : 'off'],
    ['created', found.created_at ?? UNREADABLE],
  ]
  return { value: found, text: lines.map(([word = '', value]) => `${word.padEnd(10)}  ${value}`).join('\n') }
}

/** Prints the available and the held amount of an account. */
export async function balance(ask: Ask, account: string): Promise<Outcome> {
  const found = await ask<AccountReply>({ method: 'GET', path: adminPath('accounts', account) })
  return {
    value: found,
    text: `available  ${usdText(found.available_usd)}\nheld       ${usdText(found.held_usd)}`,
  }
}

/** An amount in dollars; null for one that cannot be read. */
function usdText(amount: string | null): string {
  return amount === null ? UNREADABLE : `${amount} USD`
}

function stateOf({ suspended_at: suspendedAt, closed_at: closedAt }: AccountReply): string {
  if (closedAt !== null) return `closed ${closedAt}`
  return suspendedAt === null ? 'active' : `suspended ${suspendedAt}`
}

/** Refuses the keys of an account, or accepts them again. */
export async function switchAccount(
  ask: Ask,
  { account, to }: { readonly account: string; readonly to: 'suspend' | 'resume' },
): Promise<Outcome> {
  const switched = await ask<{ id: string; name: string; suspended_at: string | null }>({
    method: 'POST',
    path: adminPath('accounts', account, to),
  })
  const { name, suspended_at } = switched
  const text = suspended_at === null ? `${name} is active.` : `${name} is suspended since ${suspended_at}.`
  return { value: switched, text }
}

/** Gives an account another name. */
export async function renameAccount(
  ask: Ask,
  { account, name }: { readonly account: string; readonly name: string },
): Promise<Outcome> {
  const renamed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { name },
  })
  return { value: renamed, text: `The account ${renamed.id} is now named ${renamed.name}.` }
}

/** Closes an account that is empty, for good. */
export async function closeAccount(ask: Ask, account: string): Promise<Outcome> {
  const closed = await ask<AccountReply>({ method: 'POST', path: adminPath('accounts', account, 'close') })
  return { value: closed, text: `${closed.name} is closed since ${closed.closed_at}.` }
}

/** Switches the replays of an account. */
export async function switchReplays(
  ask: Ask,
  { account, isOn }: { readonly account: string; readonly isOn: boolean },
): Promise<Outcome> {
  const switched = await ask<{ id: string; name: string; replays: boolean }>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { replays: isOn },
  })
  return { value: switched, text: `Replays of ${switched.name} are ${switched.replays ? 'on' : 'off'}.` }
}

/** Sets the balance below which webhooks are told. Null for never. */
export async function alertAccount(
  ask: Ask,
  { account, belowUsd }: { readonly account: string; readonly belowUsd: string | null },
): Promise<Outcome> {
  const changed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { alert_below_usd: belowUsd },
  })
  const { name, alert_below_usd: below } = changed
  const text =
    below === null
      ? `Webhooks are not told of a low balance of ${name}.`
      : `Webhooks are told when the balance of ${name} falls below ${below} USD.`
  return { value: changed, text }
}

/** Replaces the addresses that get mails about an account. */
export async function setContacts(
  ask: Ask,
  { account, contacts }: { readonly account: string; readonly contacts: readonly string[] },
): Promise<Outcome> {
  const changed = await ask<FullAccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { contacts },
  })
  const { name, contacts: now } = changed
  const text = now.length === 0 ? `${name} has no contacts.` : `Mails about ${name} go to ${now.join(', ')}.`
  return { value: changed, text }
}

/** Switches the events of the jobs of an account. */
export async function switchJobEvents(
  ask: Ask,
  { account, isOn }: { readonly account: string; readonly isOn: boolean },
): Promise<Outcome> {
  const changed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { job_events: isOn },
  })
  const { name, job_events: are } = changed
  const text = `Webhooks are ${are ? 'told of each job' : 'not told of jobs'} of ${name}${are ? ' that ends' : ''}.`
  return { value: changed, text }
}

/** All rows of a list, page by page. */
export async function allPages<Row>(ask: Ask, path: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '?limit=200' : `?limit=200&cursor=${cursor}`
    const page: Page<Row> = await ask<Page<Row>>({ method: 'GET', path: path + query })
    rows.push(...page.data)
    cursor = page.next
  }
  return rows
}
