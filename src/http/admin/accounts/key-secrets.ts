import { KEY_PREFIX_LENGTH } from '../../../domain/accounts/api-key-text.ts'
import { hasEnded, OLD_SECRET_MS_MAX, type KeySecret } from '../../../domain/accounts/key-secrets.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { instantOrNull } from '../../../domain/time.ts'
import { findKeyOfPath } from '../../../gateway/admin/accounts/find-key.ts'
import { OLD_SECRET_MS, rotateApiKey } from '../../../gateway/admin/accounts/rotate-api-key.ts'
import { readTime } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { optionalTextField, readFields, wrongField, type Fields } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { keyReply } from './keys.ts'

/** Gives a key a new secret. Only this reply has its text. The old secret ends later, or at once. */
export async function postRotation(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const nowMs = ports.clock.now()
  const end = oldEnd(await readFields(request, ['old_ends_in', 'old_ends_at']), nowMs)
  const key = await findKeyOfPath(params['id'] ?? '', ports)
  const { apiKey, text } = await rotateApiKey({ key, nowMs, actor, ...end }, ports)
  return adminReply({ ...(await keyReply(apiKey, ports)), key: text })
}

/** Ends one of the two secrets of a key at once. Repeating it changes nothing. */
export async function postSecretRevocation(
  { params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const atMs = ports.clock.now()
  const prefix = (params['secret'] ?? '').replace(/…$/, '')
  if (prefix.length > KEY_PREFIX_LENGTH)
    throw new GatewayError(
      'invalid_field',
      `A path names a secret by its first ${KEY_PREFIX_LENGTH} characters, not by its text, because paths get into logs.`,
      { param: 'secret' },
    )
  const { publicId } = await findKeyOfPath(params['id'] ?? '', ports)
  const key = await ports.apiKeys.revokeSecret(publicId, prefix, { actor, atMs })
  return adminReply(await keyReply(key, ports))
}

/** The word for this moment in `old_ends_at`. */
const NOW = 'now'
const MS_A_SECOND = 1000

/** When the old secret ends, and the field that says so. */
function oldEnd(fields: Fields, nowMs: number): { readonly oldEndsAtMs: number; readonly param: string } {
  const seconds = fields['old_ends_in'] ?? undefined
  const at = optionalTextField(fields, 'old_ends_at', `"${NOW}" or a time in RFC 3339`)
  if (seconds !== undefined && at !== undefined)
    throw wrongField('old_ends_at', 'and "old_ends_in" cannot both be set')
  if (at !== undefined)
    return { oldEndsAtMs: at === NOW ? nowMs : readTime('old_ends_at', at), param: 'old_ends_at' }
  if (seconds === undefined) return { oldEndsAtMs: nowMs + OLD_SECRET_MS, param: 'old_ends_in' }
  const max = OLD_SECRET_MS_MAX / MS_A_SECOND
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > max)
    throw wrongField('old_ends_in', `must be a whole number of seconds from 0 to ${max}`)
  return { oldEndsAtMs: nowMs + seconds * MS_A_SECOND, param: 'old_ends_in' }
}

/** The secrets of a key, newest first. */
export function secretBodies(secrets: readonly KeySecret[], nowMs: number): readonly object[] {
  return secrets.toReversed().map(({ prefix, createdAtMs, end }) => ({
    prefix,
    created_at: instantOrNull(createdAtMs),
    ends_at: end === null ? null : instantOrNull(end.atMs),
    has_ended: hasEnded(end, nowMs),
  }))
}
