import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import { encodeKeySettings } from '../../../domain/accounts/key-settings.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { MS_PER_DAY, instant } from '../../../domain/time.ts'
import { checkedName } from '../../../gateway/admin/accounts/create-account.ts'
import { createApiKey } from '../../../gateway/admin/accounts/create-api-key.ts'
import { findKey, findKeyOfPath, secretNamed } from '../../../gateway/admin/accounts/find-key.ts'
import { limitsOf } from '../../account/limits-json.ts'
import type { OwnedKey } from '../../../gateway/ports/access/api-keys.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from './accounts.ts'
import { flagField, optionalTextField, readFields, refuseEmpty, textField, wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { readAdminPage } from '../query.ts'
import { secretBodies } from './key-secrets.ts'
import { projectOfAccount } from './projects.ts'
import { keyTermFields, keyTerms, warningsOf } from './terms.ts'

/** The keys of an account, including revoked ones, without their texts. */
export async function listKeys({ params }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const [keys, projects] = await Promise.all([ports.apiKeys.list(account.id), projectIds(account.id, ports)])
  return adminReply({ data: keys.map(key => keyBody(key, projectOf(key, projects), ports.clock.now())) })
}

/** More than any name or id has. */
const SEARCH_CHARS_MAX = 200

/**
 * One page of the keys of all accounts with their accounts, newest first: all, or those with a part of a name, an id or
 * the first characters (`?search=`).
 */
export async function listAllKeys({ query }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['search'])
  const search = query.get('search') ?? ''
  if (search.length > SEARCH_CHARS_MAX || search.includes('\0'))
    throw wrongField('search', `must be a part of a name or an id, of at most ${SEARCH_CHARS_MAX} characters`)
  const { keys, next } = await ports.apiKeys.listAll({
    limit,
    ...(search === '' ? {} : { search }),
    ...(cursor === undefined ? {} : { cursor }),
  })
  return adminReply({
    data: keys.map(owned => ownedKeyBody(owned, ports.clock.now())),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

function ownedKeyBody({ key, account, project }: OwnedKey, nowMs: number): object {
  return {
    ...keyBody(key, project, nowMs),
    account: account?.publicId ?? null,
    account_name: account?.name ?? null,
  }
}

/** A key with its limits. */
export async function getKey({ params }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  return limitedReply(await findKeyOfPath(params['id'] ?? '', ports), ports)
}

async function limitedReply(key: ApiKey, ports: AccountPorts, more: object = {}): Promise<BufferedReply> {
  const limits = await limitsOf({ accountId: key.accountId, apiKeyId: key.id }, ports.limits)
  return adminReply({ ...(await keyReply(key, ports)), ...limits, ...more })
}

const changeFields = ['name', 'disabled', ...keyTermFields]

/**
 * Changes the name of a key and what it may use, from the next request on, in one step. Repeating it changes nothing.
 */
export async function patchKey(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, changeFields)
  refuseEmpty(fields, changeFields)
  const switched = 'disabled' in fields ? { disabled: flagField(fields, 'disabled') } : {}
  const renamed = 'name' in fields ? { name: checkedName(textField(fields, 'name', 'the new name')) } : {}
  const terms = keyTerms(fields, ports.clock.now())
  const patch = { ...renamed, ...switched, ...terms }
  const { publicId } = await findKeyOfPath(params['id'] ?? '', ports)
  const key = await ports.apiKeys.update(publicId, patch, { actor, atMs: ports.clock.now() })
  return limitedReply(key, ports, warningsOf(terms, ports))
}

/**
 * Creates a key with its settings, in a project if the body names one, and with the defaults that the body does not
 * replace. Only this reply has its text.
 */
export async function postKey(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['name', 'project', ...keyTermFields])
  const name = optionalTextField(fields, 'name', 'the name of the key')
  const named = optionalTextField(fields, 'project', 'the id or the name of a project of the account')
  const project = named === undefined ? undefined : await projectOfAccount(account, named, ports)
  const terms = keyTerms(fields, ports.clock.now())
  const created = await createApiKey({ account, project, name, actor, ...terms }, ports)
  return limitedReply(created.apiKey, ports, { key: created.text, ...warningsOf(terms, ports) })
}

/**
 * The key with an id, first characters or a text, and its account. A text is in the body, because paths get into logs.
 */
export async function postKeySearch({ request }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['key'])
  const name = textField(fields, 'key', 'the id, the first characters or the text of a key')
  const key = await findKey(name, ports)
  const account = await ports.accounts.findAccountById(key.accountId)
  return adminReply({
    ...(await keyReply(key, ports)),
    found_secret: secretNamed(key, name)?.prefix ?? null,
    account: account?.publicId ?? null,
    account_name: account?.name ?? null,
  })
}

/** Revokes a key of the account. Repeating it changes nothing. */
export async function deleteKeyOfAccount(call: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const account = await accountOf(call.params, ports)
  const key = await findKeyOfPath(call.params['id'] ?? '', ports)
  if (key.accountId !== account.id) throw new GatewayError('not_found', 'This account has no such key.')
  return revoke(key, call, ports)
}

/** Revokes a key of any account. Repeating it changes nothing. */
export async function postKeyRevocation(call: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  return revoke(await findKeyOfPath(call.params['id'] ?? '', ports), call, ports)
}

async function revoke(
  { publicId }: ApiKey,
  { actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const by = { actor, atMs: ports.clock.now() }
  const key = await ports.apiKeys.update(publicId, { revoked: true }, by)
  return adminReply(await keyReply(key, ports))
}

/** A key without the texts of its secrets. */
export async function keyReply(key: ApiKey, ports: AccountPorts): Promise<object> {
  const projects = await projectIds(key.accountId, ports)
  return keyBody(key, projectOf(key, projects), ports.clock.now())
}

/** The public ids of the projects of an account, by their numbers. */
async function projectIds(
  accountId: number,
  { projects }: AccountPorts,
): Promise<ReadonlyMap<number, string>> {
  return new Map((await projects.list(accountId)).map(({ id, publicId }) => [id, publicId]))
}

function projectOf({ projectId }: ApiKey, projects: ReadonlyMap<number, string>): string | null {
  return projectId === undefined ? null : (projects.get(projectId) ?? null)
}

/** Of 2026-11-23. */
const DATE_LENGTH = 10

/** `project` is the public id of its project. */
function keyBody(key: ApiKey, project: string | null, nowMs: number): object {
  return {
    id: key.publicId,
    name: key.name,
    prefix: key.prefix,
    project,
    secrets: secretBodies(key.secrets, nowMs),
    created_at: instant(key.createdAtMs),
    revoked_at: key.revokedAtMs === null ? null : instant(key.revokedAtMs),
    disabled_at: key.disabledAtMs === null ? null : instant(key.disabledAtMs),
    ...encodeKeySettings(key.settings ?? {}),
    last_used_on:
      key.lastUsedDay === null ? null : instant(key.lastUsedDay * MS_PER_DAY).slice(0, DATE_LENGTH),
  }
}
