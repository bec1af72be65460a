import { endOf, VALUE } from '../wire/char-class.ts'
import { HeaderFields, isLineEnd, lineProblem, type HeadProblem } from '../wire/header-fields.ts'
import { hasNoBody } from '../wire/response-start.ts'

/** The head of a response, and how its body ends. */
export type ResponseHead = {
  readonly status: number
  readonly fields: HeaderFields
  readonly framing: BodyFraming
  /** Whether the connection can carry another request after this response. */
  readonly isReusable: boolean
}

/** The number of bytes, or chunks, or all bytes until the connection closes. */
export type BodyFraming = number | 'chunked' | 'until_close'

/**
 * The server stopped waiting for the request. It may still answer it later, and that must not answer the next request.
 */
const REQUEST_TIMEOUT = 408

const PROTOCOL = 'HTTP/1.'
const STATUS_DIGITS = 3
const SPACE = 32
const CR = 13
const ZERO = 48

/**
 * Reads the head that begins at `at`, and refuses a malformed one before its end has arrived. A head whose framing
 * could be read in two ways (several lengths, or a length and chunks) is malformed, because a wrong guess would mix up
 * two responses. The response to a HEAD request has no body.
 */
export function readResponseHead(bytes: Buffer, at: number, method: string): ResponseHead | HeadProblem {
  for (let index = 0; index < PROTOCOL.length; index += 1) {
    if (at + index === bytes.length) return 'partial'
    if (bytes[at + index] !== PROTOCOL.charCodeAt(index)) return 'malformed'
  }
  const minorAt = at + PROTOCOL.length
  const statusAt = minorAt + 2
  const statusEnd = statusAt + STATUS_DIGITS
  if (statusEnd >= bytes.length) return 'partial'
  const minor = (bytes[minorAt] ?? 0) - ZERO
  const status = statusOf(bytes, statusAt, statusEnd)
  if ((minor !== 0 && minor !== 1) || bytes[minorAt + 1] !== SPACE || status === undefined) return 'malformed'
  const lineEnd = endOf(VALUE, bytes, statusEnd)
  if (!isLineEnd(bytes, lineEnd)) return lineProblem(bytes, lineEnd)
  const fields = HeaderFields.read(bytes, lineEnd + 2)
  if (typeof fields === 'string') return fields
  const declared = fields.framing() ?? 'until_close'
  if (declared === 'malformed' || (minor === 0 && declared === 'chunked')) return 'malformed'
  const framing = method === 'HEAD' || hasNoBody(status) ? 0 : declared
  const isReusable =
    minor === 1 &&
    framing !== 'until_close' &&
    status !== REQUEST_TIMEOUT &&
    !fields.hasConnectionOption('close')
  return { status, fields, framing, isReusable }
}

/** Three digits, followed by a space and the reason, or by the end of the line. */
function statusOf(bytes: Uint8Array, start: number, end: number): number | undefined {
  let status = 0
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return undefined
    status = 10 * status + digit
  }
  const isWhole = bytes[end] === SPACE || bytes[end] === CR
  return isWhole && status >= 100 && status <= 599 ? status : undefined
}
