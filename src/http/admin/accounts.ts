import type { Account, ApiKey } from '../../domain/accounts/account.ts'
import { rowsRefusal } from '../../domain/catalog/rows/problem.ts'
import { decodeLimitsPatch, limitFields, type LimitsPatch } from '../../domain/limits/limits-row.ts'
import { GatewayError } from '../../domain/errors.ts'
import { addUsd, formatUsd } from '../../domain/money.ts'
import { createAccount } from '../../gateway/admin/create-account.ts'
import { createApiKey } from '../../gateway/admin/create-api-key.ts'
import { findKey, findKeyOfPath } from '../../gateway/admin/find-key.ts'
import { flagField, optionalTextField, readFields, textField, type Fields } from './body.ts'
import { limitsOf } from '../limits-json.ts'
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

/** Changes the replays or the limits of an account, from the next request on. Repeating it changes nothing. */
export async function patchAccount(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const { replays, ...fields } = await readFields(request, ['replays', ...limitFields])
  const switched = replays === undefined ? {} : { replays: flagField({ replays }, 'replays') }
  const hasLimits = replays === undefined || Object.keys(fields).length > 0
  const patch = { ...switched, ...(hasLimits ? { limits: limitsField(fields) } : {}) }
  const { publicId } = await accountOf(params, ports)
  const changed = await ports.accounts.updateAccount(publicId, patch, { actor, atMs: ports.clock.now() })
  return adminReply(await limitedAccountBody(changed, ports))
}

/** One account with its balance and its limits. */
export async function getAccount({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  return adminReply(await limitedAccountBody(await accountOf(params, ports), ports))
}

/** The keys of an account, including revoked ones, without their texts. */
export async function listKeys({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const keys = await ports.accounts.listKeys(account.id)
  return adminReply({ data: keys.map(keyBody) })
}

/** A key with its limits. */
export async function getKey({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const key = await findKeyOfPath(params['id'] ?? '', ports)
  const owner = { accountId: key.accountId, apiKeyId: key.id }
  return adminReply({ ...keyBody(key), ...(await limitsOf(owner, ports.limits)) })
}

/** Changes the limits of a key, from the next request on. Repeating it changes nothing. */
export async function patchKey(call: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const limits = limitsField(await readFields(call.request, limitFields))
  const { publicId } = await findKeyOfPath(call.params['id'] ?? '', ports)
  await ports.accounts.updateKey(publicId, { limits }, { actor: call.actor, atMs: ports.clock.now() })
  return getKey(call, ports)
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
  const key = await findKeyOfPath(call.params['id'] ?? '', ports)
  if (key.accountId !== account.id) throw new GatewayError('not_found', 'This account has no such key.')
  return revoke(key, call, ports)
}

/** Revokes a key of any account. Repeating it changes nothing. */
export async function postKeyRevocation(call: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  return revoke(await findKeyOfPath(call.params['id'] ?? '', ports), call, ports)
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

/** The members of a body that change limits. Throws `invalid_field` if there are none, and for a wrong one. */
function limitsField(fields: Fields): LimitsPatch {
  if (Object.keys(fields).length === 0)
    throw new GatewayError(
      'invalid_field',
      `The body changes nothing. Its fields are ${limitFields.join(', ')}.`,
    )
  const patch = decodeLimitsPatch(fields)
  if (!patch.ok) throw rowsRefusal(patch.problems)
  return patch.value
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

async function limitedAccountBody(account: Account, ports: AdminPorts): Promise<object> {
  const limits = limitsOf({ accountId: account.id, apiKeyId: undefined }, ports.limits)
  return { ...(await accountBody(account, ports)), ...(await limits.catch(nullIfDamaged)) }
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
