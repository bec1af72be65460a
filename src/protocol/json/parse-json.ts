import { GatewayError } from '../../domain/errors.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON object and its text. The gateway passes the text on, and only reads the value. */
export type JsonDocument = {
  readonly text: string
  readonly value: JsonObject
  /** Every string and key is plain ASCII, so that its length is its number of characters. */
  readonly isAscii: boolean
}

/** A body as it was sent: its text, without a byte order mark, and its length in bytes of UTF-8. */
export type SentText = { readonly text: string; readonly byteLength: number }

const REASON_CHARS_MAX = 100

/** Reads a request's body. Throws `invalid_json` with the reason unless it is one JSON object. */
export function parseJsonObject({ text, byteLength }: SentText): JsonDocument {
  if (byteLength === 0) throw invalidJson('it is empty, not a JSON object')
  const value = parsed(text)
  if (!isJsonObject(value)) {
    throw invalidJson(`it is ${nameOf(value)}, not a JSON object`)
  }
  return { text, value, isAscii: text.length === byteLength && !text.includes('\\u') }
}

/** Reads a text from an upstream. Undefined unless it is one JSON object. */
export function findJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Parses a text that is known to be one JSON object. */
export function jsonObjectOf(text: string): JsonDocument['value'] {
  return JSON.parse(text) as JsonDocument['value']
}

/** True for `{…}`; false for arrays, null and every scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // A RangeError means that the text is nested deeper than the parser's stack.
    if (cause instanceof RangeError) throw invalidJson('it is nested too deeply', cause)
    const reason = (cause as Error).message.replace(/^JSON Parse error: /, '')
    throw invalidJson(reason.slice(0, REASON_CHARS_MAX), cause)
  }
}

/** For a body that is not one JSON object; `reason` completes the sentence. */
export function invalidJson(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_json', `Invalid JSON: ${reason}.`, { cause })
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
