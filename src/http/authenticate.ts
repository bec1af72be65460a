import { GatewayError } from '../domain/errors.ts'
import type { Accounts, Authenticated } from '../gateway/ports/accounts.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** Turns a key's text into the hash under which it is stored. */
export type HashKey = (key: string) => string

/** No key is longer; a longer header is not worth hashing. */
const KEY_LENGTH_MAX = 256

/**
 * Whose key came with the request: `Authorization: Bearer` first, then `x-api-key`. Throws `invalid_api_key`.
 * Synchronous where the key is known already.
 */
export function authenticate(
  request: Pick<IncomingRequest, 'header'>,
  { accounts, hashKey }: { readonly accounts: Accounts; readonly hashKey: HashKey },
): Authenticated | Promise<Authenticated> {
  const bearer = usable(bearerKey(request.header('authorization')))
  const first = bearer ?? usable(request.header('x-api-key'))
  if (first === undefined) {
    throw new GatewayError(
      'invalid_api_key',
      'No API key was given. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
    )
  }
  const found = accounts.authenticate(hashKey(first))
  if (found !== undefined && !(found instanceof Promise)) return found
  const second = bearer === undefined ? undefined : usable(request.header('x-api-key'))
  return authenticateSlowly(found, second, { accounts, hashKey })
}

/** The text, where it can be a key at all. */
function usable(key: string | null): string | undefined {
  return key === null || key === '' || key.length > KEY_LENGTH_MAX ? undefined : key
}

async function authenticateSlowly(
  first: Authenticated | undefined | Promise<Authenticated | undefined>,
  second: string | undefined,
  { accounts, hashKey }: { readonly accounts: Accounts; readonly hashKey: HashKey },
): Promise<Authenticated> {
  const found =
    (await first) ?? (second === undefined ? undefined : await accounts.authenticate(hashKey(second)))
  if (found === undefined)
    throw new GatewayError('invalid_api_key', 'This API key is not known or was revoked.')
  return found
}

/** The key of a `Bearer` header, with the scheme in any case; null for any other header. */
export function bearerKey(header: string | null): string | null {
  if (header === null || !(header.startsWith('Bearer ') || /^bearer /i.test(header))) return null
  return header.slice(7).trim()
}
