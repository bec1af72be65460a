import type { ApiKey } from '../../domain/accounts/api-key.ts'
import { GatewayError } from '../../domain/errors.ts'
import { limitFields, type LimitsPatch } from '../../domain/limits/limits-row.ts'
import { createApiKey } from '../../gateway/admin/create-api-key.ts'
import { findKey, findKeyOfPath, secretNamed } from '../../gateway/admin/find-key.ts'
import { limitsOf } from '../limits-json.ts'
import type { BufferedReply } from '../request-context.ts'
import { accountOf } from './accounts.ts'
import { limitsField, optionalTextField, readFields, textField, type Fields } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { instant } from './instant.ts'
import { secretBodies } from './key-secrets.ts'
import { projectOfAccount } from './projects.ts'

/** The keys of an account, including revoked ones, without their texts. */
export async function listKeys({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const [keys, projects] = await Promise.all([ports.apiKeys.list(account.id), projectIds(account.id, ports)])
  return adminReply({ data: keys.map(key => keyBody(key, projects, ports.clock.now())) })
}

/** A key with its limits. */
export async function getKey({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const key = await findKeyOfPath(params['id'] ?? '', ports)
  const limits = await limitsOf({ accountId: key.accountId, apiKeyId: key.id }, ports.limits)
  return adminReply({ ...(await keyReply(key, ports)), ...limits })
}

/** Changes the limits of a key, from the next request on. Repeating it changes nothing. */
export async function patchKey(call: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const limits = limitsField(await readFields(call.request, limitFields))
  const { publicId } = await findKeyOfPath(call.params['id'] ?? '', ports)
  await ports.apiKeys.update(publicId, { limits }, { actor: call.actor, atMs: ports.clock.now() })
  return getKey(call, ports)
}

/**
 * Creates a key, in a project if the body names one, and with the default limits that the body does not replace. Only
 * this reply has its text.
 */
export async function postKey(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['name', 'project', ...limitFields])
  const name = optionalTextField(fields, 'name', 'the name of the key')
  const named = optionalTextField(fields, 'project', 'the id or the name of a project of the account')
  const project = named === undefined ? undefined : await projectOfAccount(account, named, ports)
  const limits = limitsIn(fields)
  const { apiKey, text } = await createApiKey({ account, project, name, limits, actor }, ports)
  const owner = { accountId: account.id, apiKeyId: apiKey.id }
  const terms = await limitsOf(owner, ports.limits)
  return adminReply({ ...(await keyReply(apiKey, ports)), ...terms, key: text })
}

/** Replaces the default limits that it names. */
function limitsIn(fields: Fields): LimitsPatch | undefined {
  const named = Object.entries(fields).filter(([name]) => limitFields.some(known => known === name))
  return named.length === 0 ? undefined : limitsField(Object.fromEntries(named))
}

/** The key with an id, first characters or a text, and its account. A text is in the body, because paths get into logs. */
export async function postKeySearch({ request }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
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

async function revoke({ publicId }: ApiKey, { actor }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const by = { actor, atMs: ports.clock.now() }
  const key = await ports.apiKeys.update(publicId, { revoked: true }, by)
  return adminReply(await keyReply(key, ports))
}

/** A key without the texts of its secrets. */
export async function keyReply(key: ApiKey, ports: AdminPorts): Promise<object> {
  return keyBody(key, await projectIds(key.accountId, ports), ports.clock.now())
}

/** The public ids of the projects of an account, by their numbers. */
async function projectIds(accountId: number, { projects }: AdminPorts): Promise<ReadonlyMap<number, string>> {
  return new Map((await projects.list(accountId)).map(({ id, publicId }) => [id, publicId]))
}

function keyBody(key: ApiKey, projects: ReadonlyMap<number, string>, nowMs: number): object {
  return {
    id: key.publicId,
    name: key.name,
    prefix: key.prefix,
    project: key.projectId === undefined ? null : (projects.get(key.projectId) ?? null),
    secrets: secretBodies(key.secrets, nowMs),
    created_at: instant(key.createdAtMs),
    revoked_at: key.revokedAtMs === null ? null : instant(key.revokedAtMs),
  }
}
