import type { ApiKey } from '../../domain/accounts/account.ts'
import { isApiKeyText, KEY_PREFIX_LENGTH } from '../../domain/accounts/api-key-text.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Accounts, KeyName } from '../ports/accounts.ts'

/** Lists show the first characters of a key with this after them. */
const ELLIPSIS = /(…|\.\.\.)$/

/**
 * Finds a key by its id, by its first 12 characters or by its text. Throws `not_found`, or `invalid_field` if several
 * keys begin with these characters. No message repeats what was asked for, because it may be the text of a key.
 */
export async function findKey(
  name: string,
  {
    accounts,
    sha256,
  }: { readonly accounts: Pick<Accounts, 'findKeys'>; readonly sha256: (text: string) => Uint8Array },
): Promise<ApiKey> {
  const { by, words } = readName(name.trim().replace(ELLIPSIS, ''), sha256)
  const [key, ...others] = await accounts.findKeys(by)
  if (key === undefined) throw new GatewayError('not_found', `There is no key with ${words}.`)
  if (others.length === 0) return key
  const ids = [key, ...others].map(({ publicId }) => publicId).join(', ')
  throw new GatewayError(
    'invalid_field',
    `Several keys begin with these characters. Use the id of one of them: ${ids}.`,
    { param: 'key' },
  )
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
