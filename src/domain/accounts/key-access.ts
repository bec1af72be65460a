import type { ModelKind } from '../catalog/model.ts'
import { GatewayError } from '../errors.ts'
import { isInRanges } from './address-range.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyRoute, KeySettings } from './key-settings.ts'

/** What is known about a request before its body is read. */
export type Arrival = {
  /** Undefined for reads that every key may make: models, balance, usage and the key itself. */
  readonly route: KeyRoute | undefined
  /** Undefined if a proxy does not name the client. */
  readonly clientAddress: () => string | undefined
}

/** The error of a key that may not make a request now, from here or on this route. Undefined if it may. */
export function keyRefusal(
  { disabledAtMs, settings }: Pick<ApiKey, 'disabledAtMs' | 'settings'>,
  { route, clientAddress }: Arrival,
  nowMs: number,
): GatewayError | undefined {
  if (disabledAtMs !== null)
    return refusal('key_disabled', 'This API key is disabled. Use another key, or ask for it to be enabled.')
  if (settings === undefined) return undefined
  const { expiresAtMs, allowedAddresses, routes } = settings
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs)
    return refusal('key_expired', `This API key expired at ${new Date(expiresAtMs).toISOString()}.`)
  if (allowedAddresses !== undefined && !isInRanges(clientAddress() ?? '', allowedAddresses))
    return refusal('address_not_allowed', 'This API key may not be used from this address.')
  if (route === undefined || routes === undefined || routes.includes(route)) return undefined
  return refusal('route_not_allowed', `This API key may not use ${route}. It may use ${routes.join(', ')}.`)
}

type KeyRefusalCode = 'key_disabled' | 'key_expired' | 'address_not_allowed' | 'route_not_allowed'

function refusal(code: KeyRefusalCode, message: string): GatewayError {
  return new GatewayError(code, message, { shouldRetry: false })
}

const routesOfKind = {
  chat: ['chat_completions', 'responses', 'messages'],
  embedding: ['embeddings'],
  image: ['images'],
  video: ['videos'],
} as const satisfies Record<ModelKind, readonly KeyRoute[]>

/** Whether a key may call a model on some route. */
export function mayUseModel(
  settings: KeySettings | undefined,
  { id, kind }: { readonly id: string; readonly kind: ModelKind },
): boolean {
  if (settings === undefined) return true
  const { models, routes } = settings
  if (models !== undefined && !models.some(pattern => matchesPattern(pattern, id))) return false
  return routes === undefined || routesOfKind[kind].some(route => routes.includes(route))
}

/**
 * Whether a name has the parts of a pattern between its `*` in their order. Takes time in proportion to the lengths.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return name === pattern
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false
  let from = start.length
  for (const part of parts) {
    const at = name.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from + end.length <= name.length
}
