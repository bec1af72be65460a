import type { Rejection } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import type { WholeAnswer } from '../media/send-whole.ts'

/** The code of an error: in `detail`, or beside it. */
export function errorCodeOf(body: string): string | undefined {
  const value = findJsonObject(body)
  const detail = value?.['detail']
  return codeIn(isJsonObject(detail) ? detail : undefined) ?? codeIn(value)
}

function codeIn(value: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const code = value?.['error_code']
  return typeof code === 'string' && code !== '' ? code : undefined
}

/** About the operator's key, its credit, and the model that the row names. */
const OPERATOR_CODE = /^API_KEY_|CREDIT|^INVALID_MODEL$/
const RATE_CODE = 'RATE_LIMIT_ERROR'

export function isOperatorCode(code: string | undefined): boolean {
  return code !== undefined && OPERATOR_CODE.test(code)
}

/** Why a submit was not accepted. */
export function rejectionOf({ status, headers, body, retryAfterS }: WholeAnswer): Rejection {
  const code = errorCodeOf(body)
  return {
    reason: reasonOf(status, code),
    status,
    message: readUpstreamError(body, headers['content-type']).message,
    ...(code === undefined ? {} : { code }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  }
}

function reasonOf(status: number, code: string | undefined): Rejection['reason'] {
  if (isOperatorCode(code) || status === 401 || status === 402 || status === 403) return 'operator'
  if (status === 429 || code === RATE_CODE) return 'rate_limited'
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  return status >= 300 && status < 400 ? 'operator' : 'invalid'
}
