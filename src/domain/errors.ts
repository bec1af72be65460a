/** The `error.type` of an error envelope. */
export type ErrorType =
  | 'invalid_request_error'
  | 'content_policy_violation'
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_balance'
  | 'not_found_error'
  | 'conflict_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'server_error'
  | 'upstream_error'
  | 'generation_error'
  | 'timeout_error'

/**
 * Every code, with its type, in the order of the types. The core throws codes; `http/errors.ts` alone knows their HTTP
 * statuses. Codes are API: once released they are never renamed.
 */
export const errorTypeOf = {
  invalid_json: 'invalid_request_error',
  json_required: 'invalid_request_error',
  invalid_field: 'invalid_request_error',
  ambiguous_field: 'invalid_request_error',
  route_not_supported: 'invalid_request_error',
  not_supported: 'invalid_request_error',
  unpriced_feature: 'invalid_request_error',
  unsupported_input: 'invalid_request_error',
  thread_unsupported_request: 'invalid_request_error',
  method_not_allowed: 'invalid_request_error',
  link_ended: 'invalid_request_error',
  malformed_request: 'invalid_request_error',
  unsupported_encoding: 'invalid_request_error',
  range_not_satisfiable: 'invalid_request_error',
  ref_video_not_ready: 'invalid_request_error',
  ref_video_mismatch: 'invalid_request_error',
  content_archived: 'invalid_request_error',
  content_policy_violation: 'content_policy_violation',
  invalid_api_key: 'authentication_error',
  account_suspended: 'authentication_error',
  project_closed: 'authentication_error',
  admin_token_unknown: 'authentication_error',
  admin_token_expired: 'authentication_error',
  admin_token_revoked: 'authentication_error',
  not_signed_in: 'authentication_error',
  wrong_credentials: 'authentication_error',
  code_needed: 'authentication_error',
  fresh_sign_in_needed: 'authentication_error',
  sign_in_failed: 'authentication_error',
  account_closed: 'authentication_error',
  secret_ended: 'authentication_error',
  key_disabled: 'authentication_error',
  key_expired: 'authentication_error',
  missing_scope: 'permission_error',
  grants_per_day_exceeded: 'permission_error',
  role_not_allowed: 'permission_error',
  cross_site_request: 'permission_error',
  address_not_allowed: 'permission_error',
  route_not_allowed: 'permission_error',
  insufficient_balance: 'insufficient_balance',
  budget_exceeded: 'insufficient_balance',
  model_not_found: 'not_found_error',
  not_found: 'not_found_error',
  already_exists: 'conflict_error',
  already_closed: 'conflict_error',
  account_not_empty: 'conflict_error',
  key_revoked: 'conflict_error',
  rotation_running: 'conflict_error',
  last_secret: 'conflict_error',
  too_many_webhooks: 'conflict_error',
  webhook_off: 'conflict_error',
  mail_off: 'conflict_error',
  removals_not_allowed: 'conflict_error',
  catalog_changed: 'conflict_error',
  last_owner: 'conflict_error',
  idempotency_key_reuse: 'conflict_error',
  video_not_ready: 'conflict_error',
  headers_too_large: 'request_too_large',
  request_too_large: 'request_too_large',
  balance_reserved: 'rate_limit_error',
  budget_reserved: 'rate_limit_error',
  requests_per_minute: 'rate_limit_error',
  tokens_per_minute: 'rate_limit_error',
  concurrent_requests: 'rate_limit_error',
  rate_limited: 'rate_limit_error',
  too_many_tries: 'rate_limit_error',
  unavailable: 'server_error',
  books_inconsistent: 'server_error',
  overloaded: 'server_error',
  server_error: 'server_error',
  upstream_error: 'upstream_error',
  headers_timeout: 'timeout_error',
  body_timeout: 'timeout_error',
  upstream_timeout: 'timeout_error',
} as const satisfies Record<string, ErrorType>

export type ErrorCode = keyof typeof errorTypeOf

/** What the client of a request reads if it failed because of a bug or an outage. */
export const SERVER_ERROR_MESSAGE =
  'The gateway failed to answer this request. Contact support and include this request id.'

/** The error for paid work while the books of an account, or of the whole gateway, are known to be wrong. */
export function booksInconsistent(of: 'account' | 'gateway', cause?: unknown): GatewayError {
  return new GatewayError(
    'books_inconsistent',
    `The books of this ${of} have a problem, so no paid request is served until the operator has resolved it. Contact support and include this request id.`,
    { shouldRetry: false, cause },
  )
}

export type ErrorExtras = {
  /** The request's field that is wrong, as a path: `messages`, `pricing.input_per_mtok`. */
  readonly param?: string
  /** Members beside `error` at the top level of the body. */
  readonly extensions?: Readonly<Record<string, string | number>>
  /** When a repeat can help, in whole seconds or as an HTTP date; sent as `Retry-After`. */
  readonly retryAfter?: string
  /** False when a repeat cannot help or money may have moved. Client SDKs repeat a POST by themselves. */
  readonly shouldRetry?: boolean
  /** The methods that a path supports, for the `Allow` header of a 405. */
  readonly allow?: string
  readonly cause?: unknown
}

/**
 * An error that the caller caused or must know about. Any other error is a bug or an outage. It reaches the caller as
 * `server_error` without its text. A message is a sentence for the client, and contains no path, host, key or SQL.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly type: ErrorType
  readonly extras: ErrorExtras

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.type = errorTypeOf[code]
    this.extras = extras
  }
}

/** Whether the database or another server that the gateway needs did not answer. A repeat can help. */
export function isOutage(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'unavailable'
}
