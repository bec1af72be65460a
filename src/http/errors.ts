import type { ErrorCode, ErrorType, GatewayError } from '../domain/errors.ts'

/** What HTTP calls each code. The only place that knows. */
const statusOf = {
  malformed_request: 400,
  invalid_json: 400,
  invalid_field: 400,
  ambiguous_field: 400,
  route_not_supported: 400,
  thread_unsupported_request: 400,
  content_policy_violation: 400,
  invalid_api_key: 401,
  insufficient_balance: 402,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  headers_timeout: 408,
  already_exists: 409,
  idempotency_key_reuse: 409,
  request_too_large: 413,
  rate_limited: 429,
  headers_too_large: 431,
  server_error: 500,
  upstream_error: 502,
  unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<ErrorCode, number>

export function statusOfError(code: ErrorCode): number {
  return statusOf[code]
}

/** The envelope of every error: `{error: {message, type, code, param?}}` and what stands beside it. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: ErrorType
    readonly code: string
    readonly param?: string
  }
  readonly [beside: string]: unknown
}

export function errorBody({ message, type, code, extras }: GatewayError): ErrorBody {
  const { param, beside } = extras
  return { error: { message, type, code, ...(param === undefined ? {} : { param }) }, ...beside }
}

/** The headers an error brings along: when to come back, and whether a client library may repeat by itself. */
export function errorHeaders({ extras }: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (extras.retryAfterS !== undefined) headers['retry-after'] = extras.retryAfterS
  if (extras.shouldRetry !== undefined) headers['x-should-retry'] = String(extras.shouldRetry)
  if (extras.allow !== undefined) headers['allow'] = extras.allow
  return headers
}
