import type { ApiKey } from '../../domain/accounts/api-key.ts'
import { GatewayError } from '../../domain/errors.ts'
import { limitFields } from '../../domain/limits/limits-row.ts'
import { createApiKey } from '../../gateway/admin/create-api-key.ts'
import { findKey, findKeyOfPath } from '../../gateway/admin/find-key.ts'
import { limitsOf } from '../limits-json.ts'
import type { BufferedReply } from '../request-context.ts'
import { accountOf } from './accounts.ts'
import { limitsField, optionalTextField, readFields, textField } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { instant } from './instant.ts'

/** The keys of an account, including revoked ones, without their texts. */
export async function listKeys({ params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const keys = await ports.apiKeys.list(account.id)
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
  await ports.apiKeys.update(publicId, { limits }, { actor: call.actor, atMs: ports.clock.now() })
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

async function revoke(
  { publicId }: ApiKey,
  { actor }: AdminCall,
  { apiKeys, clock }: AdminPorts,
): Promise<BufferedReply> {
  return adminReply(keyBody(await apiKeys.update(publicId, { revoked: true }, { actor, atMs: clock.now() })))
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
