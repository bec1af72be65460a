import { createHash, timingSafeEqual } from 'node:crypto'
import { isAdminTokenText } from '../../domain/accounts/api-key-text.ts'
import { GatewayError } from '../../domain/errors.ts'
import { admitToken, requireScope, type AdmitTokenPorts } from '../../gateway/admin/tokens/admit-token.ts'
import { THE_ADMIN, type AdminCaller } from '../../gateway/admin/operator.ts'
import { bearerKey, type IncomingRequest } from '../incoming-request.ts'

type Keyed = Pick<IncomingRequest, 'header'>

/**
 * The caller of a request, by its `Authorization: Bearer`: the admin key, or an admin token. Undefined for any other
 * text and for none. Throws what `admitToken` throws.
 */
export type AdminAccess = (request: Keyed) => Promise<AdminCaller | undefined>

/** Only a text with the form of a token is looked up in the store. */
export function adminAccess(adminKey: string, ports: AdmitTokenPorts): AdminAccess {
  const isAdmin = adminKeyCheck(adminKey)
  return async request => {
    if (isAdmin(request)) return THE_ADMIN
    const key = bearerKey(request.header('authorization'))
    return key !== null && isAdminTokenText(key) ? admitToken(key, ports) : undefined
  }
}

/** Whether a request has `Authorization: Bearer` with this key. Compares in constant time. */
export function adminKeyCheck(adminKey: string): (request: Keyed) => boolean {
  const expected = digestOf(adminKey)
  return request => {
    const key = bearerKey(request.header('authorization'))
    return key !== null && timingSafeEqual(digestOf(key), expected)
  }
}

/** The caller of a request. Throws `invalid_api_key` for a request with neither the admin key nor a token. */
export async function requireCaller(access: AdminAccess, request: Keyed): Promise<AdminCaller> {
  const caller = await access(request)
  if (caller !== undefined) return caller
  const sentence =
    request.header('authorization') !== null
      ? 'This is neither the admin key nor an admin token.'
      : 'The admin API needs the admin key or an admin token. Send it as "Authorization: Bearer <key>".'
  throw new GatewayError('invalid_api_key', sentence, { shouldRetry: false })
}

/** Admits whoever may read the admin API. */
export async function requireReader(access: AdminAccess, request: Keyed): Promise<void> {
  requireScope(await requireCaller(access, request), ['read'])
}

/** Admits whoever has the admin key, a token with the scope `metrics`, or the key for the metrics. */
export async function requireMetricsReader(
  access: AdminAccess,
  isMetricsKey: (request: Keyed) => boolean,
  request: Keyed,
): Promise<void> {
  if (isMetricsKey(request)) return
  const caller = await access(request)
  if (caller === undefined)
    throw new GatewayError(
      'invalid_api_key',
      'The metrics need the key for metrics, the admin key, or an admin token with the scope "metrics". Send it as "Authorization: Bearer <key>".',
    )
  requireScope(caller, ['metrics'])
}

function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}
