import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'

/** The result code and the content of an answer, in either version of the API. */
export type Envelope = {
  /**
   * `base_resp.status_code` of v1: 0 for a success. Of v2, the code or type of its error. Undefined if there is none.
   */
  readonly code: string | undefined
  readonly message: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** Undefined if the body is not a JSON object. */
export function readEnvelope(text: string): Envelope | undefined {
  const body = findJsonObject(text)
  if (body === undefined) return undefined
  const { base_resp: base, error } = body
  if (isJsonObject(base))
    return { code: nameOf(base['status_code']), message: nameOf(base['status_msg']), body }
  if (!isJsonObject(error)) return { code: undefined, message: undefined, body }
  return { code: nameOf(error['code']) ?? nameOf(error['type']), message: nameOf(error['message']), body }
}

/** The cause that a code stands for; `unlisted` for undocumented codes. */
export type Trouble = 'operator' | 'rate_limited' | 'invalid' | 'server' | 'unlisted'

/** All of them come with the HTTP status 200. */
const codes = new Map<string, Exclude<Trouble, 'unlisted'>>(
  Object.entries({
    1000: 'server',
    1001: 'server',
    1013: 'server',
    1024: 'server',
    1033: 'server',
    1002: 'rate_limited',
    1039: 'rate_limited',
    // The key is refused, and the balance of the account is used up.
    1004: 'operator',
    2049: 'operator',
    1008: 'operator',
    // The prompt is sensitive, the result is sensitive, and a parameter is wrong.
    1026: 'invalid',
    1027: 'invalid',
    2013: 'invalid',
    authentication_error: 'operator',
    permission_error: 'operator',
    insufficient_balance_error: 'operator',
    rate_limit_error: 'rate_limited',
    bad_request_error: 'invalid',
    server_error: 'server',
  } as const),
)

const SUCCESS = '0'

/** Undefined for a success. */
export function troubleOf(code: string | undefined): Trouble | undefined {
  if (code === undefined || code === SUCCESS) return undefined
  return codes.get(code) ?? 'unlisted'
}

/** A text, or a number as one; undefined for anything else. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined
}
