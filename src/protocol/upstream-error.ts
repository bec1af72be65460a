import { findJsonObject, isJsonObject } from './json/parse-json.ts'
import { scrub, type UpstreamSecrets } from './scrub.ts'

/** The `error` object of an error envelope. */
export type UpstreamError = {
  readonly message: string
  readonly type: string
  readonly code?: string
  readonly param: string | null
}

/** A longer body is a page, not an error. */
const BODY_CHARS_MAX = 64 * 1024
const TEXT_CHARS_MAX = 8_000
const MESSAGE_CHARS_MAX = 2_000
const NAME_CHARS_MAX = 100
const DETAILS_MAX = 5

const UNSAID = 'The provider of the model rejected the request without giving a reason.'
const OWN_TYPE = 'invalid_request_error'

/**
 * The error that a client gets for an upstream's 4xx: the upstream's own error in any of the shapes that providers use,
 * or else a new one with the text of the body. Hosts, keys and organisations are removed from both. Never throws.
 */
export function readUpstreamError(
  body: string,
  contentType?: string,
  secrets?: UpstreamSecrets,
): UpstreamError {
  const found =
    body.length > BODY_CHARS_MAX ? {} : (errorInJson(body) ?? { message: plainText(body, contentType) })
  const shown = (text: string, charsMax: number) =>
    scrub(text.slice(0, TEXT_CHARS_MAX), secrets).slice(0, charsMax)
  return {
    message: shown(found.message ?? UNSAID, MESSAGE_CHARS_MAX),
    type: shown(found.type ?? OWN_TYPE, NAME_CHARS_MAX),
    ...(found.code === undefined ? {} : { code: shown(found.code, NAME_CHARS_MAX) }),
    param: found.param === undefined ? null : shown(found.param, NAME_CHARS_MAX),
  }
}

type Found = {
  message?: string | undefined
  type?: string | undefined
  code?: string | undefined
  param?: string | undefined
}

function errorInJson(body: string): Found | undefined {
  const value = findJsonObject(body)
  if (value === undefined) return undefined
  const inner = value['error']
  const source = isJsonObject(inner) ? inner : value
  return {
    message: messageOf(source) ?? sentence(inner) ?? messageOf(value),
    // Only an envelope of the same shape has types that clients know.
    type: source === inner ? text(source['type']) : undefined,
    code: text(source['code']) ?? text(source['status']) ?? text(source['error_code']),
    param: text(source['param']),
  }
}

function messageOf(source: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of ['message', 'msg', 'error_message', 'detail', 'details', 'errors']) {
    const found = sentence(source[field])
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * A string, the strings of a list such as FastAPI's `[{loc: ["body", "n"], msg: "…"}]`, or the message in an object.
 */
function sentence(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const parts = value.slice(0, DETAILS_MAX).map(detail)
    return text(parts.filter(part => part !== undefined).join('; '))
  }
  return isJsonObject(value) ? detail(value) : text(value)
}

function detail(value: unknown): string | undefined {
  if (!isJsonObject(value)) return text(value)
  const message = text(value['msg']) ?? text(value['message']) ?? text(value['error_message'])
  const place = Array.isArray(value['loc']) ? value['loc'].filter(step => step !== 'body').join('.') : ''
  return message === undefined || place === '' ? message : `${place}: ${message}`
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The text of a body that a person can read. An HTML page is of no use to a client that reads JSON. */
function plainText(body: string, contentType = ''): string | undefined {
  const found = body.trim()
  const isReadable =
    !/html|json|octet-stream/i.test(contentType) && !/^[<{[]/.test(found) && !found.includes('\uFFFD')
  return isReadable ? text(found) : undefined
}
