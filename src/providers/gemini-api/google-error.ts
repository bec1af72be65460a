import type { Rejection } from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { UNEXPLAINED_REJECTION } from '../media/outcomes.ts'
import { shownText } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** A `google.rpc.Status` in JSON, the format of HTTP errors and of failed operations. */
type GoogleError = {
  /** The name of the code, such as `INVALID_ARGUMENT`. */
  readonly status: string | undefined
  readonly message: string | undefined
  readonly details: readonly Readonly<Record<string, unknown>>[]
}

/** Undefined if the body is not JSON or has no error. */
export function readGoogleError(body: string): GoogleError | undefined {
  const error = findJsonObject(body)?.['error']
  return isJsonObject(error) ? googleErrorOf(error) : undefined
}

export function googleErrorOf(error: Readonly<Record<string, unknown>>): GoogleError {
  const { status, code, message, details } = error
  return {
    status: shownText(status) ?? rpcCodes[Number(code)],
    message: shownText(message),
    details: Array.isArray(details) ? details.filter(isJsonObject) : [],
  }
}

/** The names of the numeric codes that errors of operations have instead of a status. */
const rpcCodes: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
  16: 'UNAUTHENTICATED',
}

/** `FAILED_PRECONDITION`: billing is not enabled. `NOT_FOUND`: the row names a model that the API does not have. */
const OPERATOR_CODES = new Set(['UNAUTHENTICATED', 'PERMISSION_DENIED', 'FAILED_PRECONDITION', 'NOT_FOUND'])
const OPERATOR_STATUSES = new Set([401, 402, 403, 404])
/** A wrong key comes with the status 400 and the code `INVALID_ARGUMENT`, and with one of these in the details. */
const OPERATOR_REASON = /^(?:API_KEY_|BILLING_|CONSUMER_|SERVICE_DISABLED)/

/** Whether an error is about the operator's key, project, daily quota or credit, and not about the request. */
export function isOperatorError(error: GoogleError | undefined): boolean {
  if (error === undefined) return false
  const hasReason = error.details.some(
    ({ reason }) => typeof reason === 'string' && OPERATOR_REASON.test(reason),
  )
  return hasReason || OPERATOR_CODES.has(error.status ?? '') || isQuotaOfDay(error)
}

/** A quota per minute is available again within seconds. A daily quota is not, and an unpaid account has no quota. */
function isQuotaOfDay({ details }: GoogleError): boolean {
  const violations = details.flatMap(({ violations }) =>
    Array.isArray(violations) ? violations.filter(isJsonObject) : [],
  )
  return violations.some(({ quotaId }) => typeof quotaId === 'string' && quotaId.includes('PerDay'))
}

/**
 * Why a submission was not accepted. The API's text about quotas is about the operator's plan, so it is not repeated.
 */
export function rejectionOf({ status, body, retryAfterS }: MediaAnswer): Rejection {
  const error = readGoogleError(body)
  const code = error?.status === undefined ? {} : { code: error.status }
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  const isOperator =
    OPERATOR_STATUSES.has(status) || isOperatorError(error) || (status >= 300 && status < 400)
  const given = error?.message ?? UNEXPLAINED_REJECTION
  if (isOperator) return { reason: 'operator', status, message: given, ...code }
  if (status !== 429) return { reason: 'invalid', status, message: given, ...code }
  const waitS = retryAfterS ?? retryDelayS(error)
  const message = 'The provider accepts no more jobs at the moment.'
  return {
    reason: 'rate_limited',
    status,
    message,
    ...code,
    ...(waitS === undefined ? {} : { retryAfterS: waitS }),
  }
}

/** The whole seconds of a `RetryInfo` such as `"retryDelay": "6.5s"`, rounded up. */
function retryDelayS(error: GoogleError | undefined): number | undefined {
  const delay = error?.details.find(({ retryDelay }) => typeof retryDelay === 'string')?.['retryDelay']
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(String(delay)) ?? []
  return seconds === undefined ? undefined : Math.ceil(Number(seconds))
}
