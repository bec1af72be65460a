import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import { isApiKeyText, KEY_PREFIX_LENGTH } from '../../../domain/accounts/api-key-text.ts'
import type { KeySecret } from '../../../domain/accounts/key-secrets.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { ApiKeys, KeyName } from '../../ports/access/api-keys.ts'

/** Lists show the first characters of a key with this after them. */
const ELLIPSIS = /(…|\.\.\.)$/

/**
 * Finds a key by its id, or by the first 12 characters or the text of one of its secrets. Throws `not_found`, or
 * `invalid_field` if several keys begin with these characters. No message repeats what was asked for, because it may be
 * the text of a key.
 */
export async function findKey(
  name: string,
  {
    apiKeys,
    sha256,
  }: { readonly apiKeys: Pick<ApiKeys, 'find'>; readonly sha256: (text: string) => Uint8Array },
): Promise<ApiKey> {
  const { by, words } = readName(withoutEllipsis(name), sha256)
  const [key, ...others] = await apiKeys.find(by)
  if (key === undefined) throw new GatewayError('not_found', `There is no key with ${words}.`)
  if (others.length === 0) return key
  const ids = [key, ...others].map(({ publicId }) => publicId).join(', ')
  throw new GatewayError(
    'invalid_field',
    `Several keys begin with these characters. Use the id of one of them: ${ids}.`,
    { param: 'key' },
  )
}

/** The secret of a key that a text or its first characters name; undefined for an id. */
export function secretNamed({ secrets }: ApiKey, name: string): KeySecret | undefined {
  const prefix = name.trim().slice(0, KEY_PREFIX_LENGTH)
  return secrets.find(secret => secret.prefix === prefix)
}

/**
 * Finds a key that a path names, by its id or by its first 12 characters. Throws `invalid_field` for the text of a key,
 * because paths get into the logs of proxies. `param` names the part of the path, or the parameter.
 */
export async function findKeyOfPath(
  name: string,
  ports: Parameters<typeof findKey>[1],
  param = 'id',
): Promise<ApiKey> {
  if (isWholeText(withoutEllipsis(name))) throw textInPath(param)
  return findKey(name, ports)
}

function textInPath(param: string): GatewayError {
  return new GatewayError(
    'invalid_field',
    `A URL names a key by its id (key_…) or by its first ${KEY_PREFIX_LENGTH} characters, not by its text, because URLs get into logs. Send the text in the body of POST /admin/api/keys/find, which returns the id.`,
    { param },
  )
}

function withoutEllipsis(name: string): string {
  return name.trim().replace(ELLIPSIS, '')
}

/** Whether a name is more than the characters that lists show. */
function isWholeText(name: string): boolean {
  return isApiKeyText(name) && name.length > KEY_PREFIX_LENGTH
}

function readName(
  name: string,
  sha256: (text: string) => Uint8Array,
): { readonly by: KeyName; readonly words: string } {
  if (name.startsWith('key_')) return { by: { publicId: name }, words: 'this id' }
  if (!isApiKeyText(name))
    throw new GatewayError(
      'not_found',
      `There is no such key. A key is found by its id (key_…), by its first ${KEY_PREFIX_LENGTH} characters or by its text (tg_live_…).`,
    )
  return name.length === KEY_PREFIX_LENGTH
    ? { by: { prefix: name }, words: `these first ${KEY_PREFIX_LENGTH} characters` }
    : { by: { hash: sha256(name) }, words: 'this text' }
}
