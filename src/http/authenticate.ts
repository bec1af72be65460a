import { GatewayError } from '../domain/errors.ts'
import type { Accounts, Authenticated } from '../gateway/ports/accounts.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** The hash under which a key is stored. */
export type HashKey = (key: string) => string

/** Longer header values are not hashed, because no key is longer. */
const KEY_LENGTH_MAX = 256

/**
 * Finds the account and key of a request. The first of `Authorization: Bearer`, `x-api-key` and `api-key` that has a
 * key decides. Throws `invalid_api_key` or `account_suspended`.
 */
export async function authenticate(
  request: Pick<IncomingRequest, 'header'>,
  { accounts, hashKey }: { readonly accounts: Accounts; readonly hashKey: HashKey },
): Promise<Authenticated> {
  const key =
    bearerKey(request.header('authorization')) || request.header('x-api-key') || request.header('api-key')
  if (key === null || key === '') {
    throw new GatewayError(
      'invalid_api_key',
      'No API key was given. Send it as "Authorization: Bearer <key>", or as "x-api-key: <key>" or "api-key: <key>".',
    )
  }
  const authenticated = key.length > KEY_LENGTH_MAX ? undefined : await accounts.authenticate(hashKey(key))
  if (authenticated === undefined)
    throw new GatewayError('invalid_api_key', 'This API key is unknown or was revoked.')
  if (authenticated.account.suspendedAtMs !== null)
    throw new GatewayError('account_suspended', 'This account is suspended. Contact support.', {
      shouldRetry: false,
    })
  return authenticated
}

/** The key of an `Authorization: Bearer` header; null for any other scheme. */
export function bearerKey(header: string | null): string | null {
  if (header === null || !(header.startsWith('Bearer ') || /^bearer /i.test(header))) return null
  return header.slice(7).trim()
}
