import type { Rejection } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { reasonOf, waitOf, UNEXPLAINED_REJECTION } from '../media/outcomes.ts'
import type { WholeAnswer } from '../media/send-whole.ts'

/** The `error` of an answer, or of a job that failed. */
export type ArkError = { readonly code: string | undefined; readonly message: string | undefined }

/** Undefined if the body is not JSON or has no error. */
export function readArkError(body: string): ArkError | undefined {
  return arkErrorOf(findJsonObject(body)?.['error'])
}

export function arkErrorOf(error: unknown): ArkError | undefined {
  if (!isJsonObject(error)) return undefined
  const { code, message } = error
  return { code: textOf(code), message: textOf(message) }
}

/**
 * Codes about the operator's key, debts, free quota and spending limit, and about the model or endpoint that the row
 * names. More specific codes begin with one of these and a dot.
 */
const OPERATOR_CODES = new Set([
  'AuthenticationError',
  'AccountOverdueError',
  'AccessDenied',
  'OperationDenied',
  'QuotaExceeded',
  'SetLimitExceeded',
  'ModelNotOpen',
  'InvalidEndpointOrModel',
])

export function isOperatorError(error: ArkError | undefined): boolean {
  const [name = ''] = error?.code?.split('.') ?? []
  return OPERATOR_CODES.has(name)
}

/** Why a submit was not accepted. */
export function rejectionOf(answer: WholeAnswer): Rejection {
  const { status, body } = answer
  const error = readArkError(body)
  return {
    reason: isOperatorError(error) ? 'operator' : reasonOf(status),
    status,
    message: error?.message ?? UNEXPLAINED_REJECTION,
    ...(error?.code === undefined ? {} : { code: error.code }),
    ...waitOf(answer),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
