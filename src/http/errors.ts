import { GatewayError, type ErrorCode, type ErrorType } from '../domain/errors.ts'
import { BlobsUnavailableError } from '../gateway/ports/media/blobs.ts'
import { HttpError, type HttpErrorCode } from '../http1/server/http-error.ts'

/** The HTTP status of each error code, in the order of `errorTypeOf`. */
const statusOf = {
  // invalid_request_error
  invalid_json: 400,
  json_required: 400,
  invalid_field: 400,
  ambiguous_field: 400,
  route_not_supported: 400,
  not_supported: 400,
  unpriced_feature: 400,
  unsupported_input: 400,
  thread_unsupported_request: 400,
  method_not_allowed: 405,
  link_ended: 410,
  malformed_request: 400,
  unsupported_encoding: 415,
  range_not_satisfiable: 416,
  ref_video_not_ready: 400,
  ref_video_mismatch: 400,
  content_archived: 410,
  // content_policy_violation
  content_policy_violation: 400,
  // authentication_error
  invalid_api_key: 401,
  account_suspended: 401,
  project_closed: 401,
  admin_token_unknown: 401,
  admin_token_expired: 401,
  admin_token_revoked: 401,
  not_signed_in: 401,
  wrong_credentials: 401,
  code_needed: 401,
  fresh_sign_in_needed: 401,
  sign_in_failed: 401,
  account_closed: 401,
  secret_ended: 401,
  key_disabled: 401,
  key_expired: 401,
  // permission_error
  missing_scope: 403,
  grants_per_day_exceeded: 403,
  role_not_allowed: 403,
  cross_site_request: 403,
  address_not_allowed: 403,
  route_not_allowed: 403,
  // insufficient_balance
  insufficient_balance: 402,
  budget_exceeded: 402,
  // not_found_error
  model_not_found: 404,
  not_found: 404,
  // conflict_error
  already_exists: 409,
  already_closed: 409,
  account_not_empty: 409,
  key_revoked: 409,
  rotation_running: 409,
  last_secret: 409,
  too_many_webhooks: 409,
  webhook_off: 409,
  mail_off: 409,
  removals_not_allowed: 409,
  catalog_changed: 409,
  last_owner: 409,
  idempotency_key_reuse: 409,
  video_not_ready: 409,
  // request_too_large
  headers_too_large: 431,
  request_too_large: 413,
  // rate_limit_error
  balance_reserved: 429,
  budget_reserved: 429,
  requests_per_minute: 429,
  tokens_per_minute: 429,
  concurrent_requests: 429,
  rate_limited: 429,
  too_many_tries: 429,
  // server_error
  unavailable: 503,
  books_inconsistent: 503,
  overloaded: 503,
  server_error: 500,
  // upstream_error
  upstream_error: 502,
  // timeout_error
  headers_timeout: 408,
  body_timeout: 408,
  upstream_timeout: 504,
} as const satisfies Record<ErrorCode, number>

export function statusOfError(code: ErrorCode): number {
  return statusOf[code]
}

/**
 * The errors of the HTTP server that get a reply. The others mean that the client is gone, or are faults of the
 * gateway.
 */
const codeOfHttp = {
  malformed_request: 'malformed_request',
  headers_too_large: 'headers_too_large',
  headers_timeout: 'headers_timeout',
  body_too_large: 'request_too_large',
  body_timeout: 'body_timeout',
  body_not_utf8: 'invalid_json',
  body_discarded: undefined,
  client_disconnected: undefined,
  too_many_connections: 'unavailable',
} as const satisfies Record<HttpErrorCode, ErrorCode | undefined>

/** The error for the client; undefined for a bug or an outage, which becomes `server_error`. */
export function gatewayErrorOf(error: unknown): GatewayError | undefined {
  if (error instanceof GatewayError) return error
  if (error instanceof BlobsUnavailableError) return resultsUnavailable(error)
  const code = error instanceof HttpError ? codeOfHttp[error.code] : undefined
  if (code === undefined) return undefined
  const { message } = error as HttpError
  // Providers have limits of their own.
  if (code === 'request_too_large')
    return new GatewayError(code, `${message} The gateway refused it, and called no provider.`)
  // Only JSON bodies are read as text.
  if (code === 'invalid_json') return new GatewayError(code, `Invalid JSON: ${message}`)
  return new GatewayError(code, message, code === 'unavailable' ? { retryAfter: '1' } : {})
}

function resultsUnavailable(cause: BlobsUnavailableError): GatewayError {
  return new GatewayError('unavailable', 'Stored results cannot be read at the moment. Try again later.', {
    retryAfter: '10',
    cause,
  })
}

/** The body of every error: `{error: {message, type, code, param}}`, and members beside `error`. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: ErrorType
    readonly code: string
    /** The field that the error is about. Some client libraries require the member. */
    readonly param: string | null
  }
  readonly [extension: string]: unknown
}

export function errorBody({ message, type, code, extras }: GatewayError): ErrorBody {
  const { param = null, extensions } = extras
  return { error: { message, type, code, param }, ...extensions }
}

/** The headers of an error: when to retry, whether a client library may retry by itself, and the allowed methods. */
export function errorHeaders({ extras }: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (extras.retryAfter !== undefined) headers['retry-after'] = extras.retryAfter
  if (extras.shouldRetry !== undefined) headers['x-should-retry'] = String(extras.shouldRetry)
  if (extras.allow !== undefined) headers['allow'] = extras.allow
  return headers
}
