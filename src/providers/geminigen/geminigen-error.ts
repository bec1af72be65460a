import type { Rejection } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import { reasonOf, waitOf } from '../media/answers.ts'
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

/** Codes about the operator's key, its credit, and the model that the row names. */
const OPERATOR_CODE = /^API_KEY_|_CREDITS?$|^INVALID_MODEL$/
const RATE_CODE = 'RATE_LIMIT_ERROR'

export function isOperatorCode(code: string | undefined): boolean {
  return code !== undefined && OPERATOR_CODE.test(code)
}

/** Why a submit was not accepted. */
export function rejectionOf(answer: WholeAnswer): Rejection {
  const { status, contentType, body } = answer
  const code = errorCodeOf(body)
  return {
    reason: isOperatorCode(code) ? 'operator' : code === RATE_CODE ? 'rate_limited' : reasonOf(status),
    status,
    message: readUpstreamError(body, contentType).message,
    ...(code === undefined ? {} : { code }),
    ...waitOf(answer),
  }
}
