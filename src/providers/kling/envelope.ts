import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'

/** The envelope of every answer of the API. */
export type Envelope = {
  /** 0 for a success; undefined if the answer has none. */
  readonly code: number | undefined
  readonly message: string | undefined
  readonly data: Readonly<Record<string, unknown>> | undefined
}

/** Undefined if the body is not a JSON object. */
export function readEnvelope(body: string): Envelope | undefined {
  const value = findJsonObject(body)
  if (value === undefined) return undefined
  const { code, message, data } = value
  return {
    code: wholeNumber(code),
    message: typeof message === 'string' && message !== '' ? message : undefined,
    data: isJsonObject(data) ? data : undefined,
  }
}

/** The cause that a code stands for; `unlisted` for undocumented codes. */
export type Trouble = 'operator' | 'rate_limited' | 'invalid' | 'server' | 'unlisted'

/** Some of these come with the HTTP status 429, but a retry does not help until the operator has paid. */
const ACCOUNT_CODES = new Set([1100, 1101, 1102, 1103])
const IP_NOT_ALLOWED = 1304
const RATE_CODES = new Set([1302, 1303])
export const NO_SUCH_RESOURCE = 1203
const REQUEST_CODES = new Set([1200, 1201, 1202, NO_SUCH_RESOURCE, 1300, 1301])
const SERVER_CODES_MIN = 5000

/** Undefined for a success. */
export function troubleOf(code: number): Trouble | undefined {
  if (code === 0) return undefined
  if (isTokenRefused(code) || ACCOUNT_CODES.has(code) || code === IP_NOT_ALLOWED) return 'operator'
  if (RATE_CODES.has(code)) return 'rate_limited'
  if (REQUEST_CODES.has(code)) return 'invalid'
  return code >= SERVER_CODES_MIN ? 'server' : 'unlisted'
}

/** Authentication failed: the token is missing, not valid, not valid yet or expired. */
export function isTokenRefused(code: number | undefined): boolean {
  return code !== undefined && code >= 1000 && code <= 1004
}

/** A number, or its digits in a string. */
function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}
