import { GatewayError } from '../domain/errors.ts'
import type { Accounts, Authenticated } from '../gateway/ports/accounts.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** The hash under which a key is stored. */
export type HashKey = (key: string) => string

/** Longer header values are not hashed, because no key is longer. */
const KEY_LENGTH_MAX = 256

/**
 * Finds the account and key of a request: by `Authorization: Bearer` first, then by `x-api-key`. Throws
 * `invalid_api_key`.
 */
export async function authenticate(
  request: Pick<IncomingRequest, 'header'>,
  { accounts, hashKey }: { readonly accounts: Accounts; readonly hashKey: HashKey },
): Promise<Authenticated> {
  const bearer = bearerKey(request.header('authorization'))
  if (isPossibleKey(bearer)) {
    const authenticated = await accounts.authenticate(hashKey(bearer))
    if (authenticated !== undefined) return authenticated
  }
  const other = request.header('x-api-key')
  if (isPossibleKey(other)) {
    const authenticated = await accounts.authenticate(hashKey(other))
    if (authenticated !== undefined) return authenticated
  }
  const isGiven = isPossibleKey(bearer) || isPossibleKey(other)
  throw new GatewayError(
    'invalid_api_key',
    isGiven
      ? 'This API key is unknown or was revoked.'
      : 'No API key was given. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
  )
}

function isPossibleKey(key: string | null): key is string {
  return key !== null && key !== '' && key.length <= KEY_LENGTH_MAX
}

/** The key of an `Authorization: Bearer` header; null for any other scheme. */
export function bearerKey(header: string | null): string | null {
  if (header === null || !(header.startsWith('Bearer ') || /^bearer /i.test(header))) return null
  return header.slice(7).trim()
}
