import type { Account, ApiKey } from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { addUsd, formatUsd } from '../../domain/money.ts'
import { createAccount } from '../../gateway/admin/create-account.ts'
import { createApiKey } from '../../gateway/admin/create-api-key.ts'
import { findKey } from '../../gateway/admin/find-key.ts'
import { flagField, optionalTextField, readFields, textField } from './body.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { absenceOf } from './found.ts'
import { instant, instantOrNull } from './instant.ts'
import { readAdminPage } from './query.ts'

/** One page of accounts with their balances, oldest first. */
export async function listAccounts({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query)
  const { accounts, next } = await ports.accounts.listAccounts({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
  })
  return adminReply({
    data: await Promise.all(accounts.map(account => accountBody(account, ports))),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** Creates an account. Throws `already_exists` if the name is taken. */
export async function postAccount({ request, actor }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['name'])
  const name = textField(fields, 'name', 'the name of the account')
  const account = await createAccount({ name, actor }, ports)
  return adminReply({ id: account.publicId, name: account.name })
}

/** Switches the replays of an account, from the next request on. Repeating it changes nothing. */
export async function patchAccount(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const replays = flagField(await readFields(request, ['replays']), 'replays')
  const by = { actor, atMs: ports.clock.now() }
  return adminReply(await accountBody(await ports.accounts.updateAccount(publicId, { replays }, by), ports))
}

/** One account with its balance. */
export async function getAccount({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  return adminReply(await accountBody(await accountOf(params, ports), ports))
}

/** The keys of an account, including revoked ones, without their texts. */
export async function listKeys({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const keys = await ports.accounts.listKeys(account.id)
  return adminReply({ data: keys.map(keyBody) })
}

/** Creates a key. Only this reply has its text. */
export async function postKey(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['name'])
  const name = optionalTextField(fields, 'name', 'the name of the key')
  const { apiKey, text } = await createApiKey({ account, name, actor }, ports)
  return adminReply({ ...keyBody(apiKey), key: text })
}

/** The key with an id, first characters or a text, and its account. A text is in the body, because paths get into logs. */
export async function postKeySearch({ request }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['key'])
  const key = await findKey(
    textField(fields, 'key', 'the id, the first characters or the text of a key'),
    ports,
  )
  const account = await ports.accounts.findAccountById(key.accountId)
  return adminReply({
    ...keyBody(key),
    account: account?.publicId ?? null,
    account_name: account?.name ?? null,
  })
}

/** Revokes a key of the account. Repeating it changes nothing. */
export async function deleteKeyOfAccount(call: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(call.params, ports)
  const key = await findKey(call.params['id'] ?? '', ports)
  if (key.accountId !== account.id) throw new GatewayError('not_found', 'This account has no such key.')
  return revoke(key, call, ports)
}

/** Revokes a key of any account. Repeating it changes nothing. */
export async function postKeyRevocation(call: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  return revoke(await findKey(call.params['id'] ?? '', ports), call, ports)
}

/** Accounts whose names are compared with an unknown one. More would make a mistyped name slow. */
const COMPARED_MAX = 1000

/** The account of a path, by its id or its name. Throws `not_found`, which suggests similar names. */
export async function accountOf(params: AdminCall['params'], { accounts }: AdminPorts): Promise<Account> {
  const name = params['account'] ?? ''
  const account = await accounts.findAccount(name)
  if (account !== undefined) return account
  const known = await accounts.listAccounts({ limit: COMPARED_MAX })
  const names = known.accounts.map(account => account.name)
  throw new GatewayError('not_found', absenceOf('account', name, names))
}

async function revoke(
  { publicId }: ApiKey,
  { actor }: AdminCall,
  { accounts, clock }: AdminPorts,
): Promise<BufferedReply> {
  return adminReply(
    keyBody(await accounts.updateKey(publicId, { revoked: true }, { actor, atMs: clock.now() })),
  )
}

/**
 * Values that cannot be read are null, so that one damaged row does not hide the other accounts. `tollgate verify`
 * names the damage.
 */
async function accountBody(account: Account, { ledger }: AdminPorts): Promise<object> {
  const balance = await ledger.balance(account.id).catch(nullIfDamaged)
  return {
    id: account.publicId,
    name: account.name,
    available_usd: balance && formatUsd(balance.available),
    held_usd: balance && formatUsd(addUsd(balance.held.text, balance.held.media)),
    sandbox_only: account.sandboxOnly,
    suspended_at: account.suspendedAtMs === null ? null : instantOrNull(account.suspendedAtMs),
    replays: account.replays !== false,
    created_at: instantOrNull(account.createdAtMs),
  }
}

/** The ledger throws a RangeError for an account without balances. */
function nullIfDamaged(error: unknown): null {
  if (error instanceof RangeError) return null
  throw error
}

function keyBody(key: ApiKey): object {
  return {
    id: key.publicId,
    name: key.name,
    prefix: key.prefix,
    created_at: instant(key.createdAtMs),
    revoked_at: key.revokedAtMs === null ? null : instant(key.revokedAtMs),
  }
}
