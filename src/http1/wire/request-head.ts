import { endOf, HOST_NAME, TARGET, TOKEN } from './char-class.ts'
import { HeaderFields, isLineEnd, lineProblem, type HeadProblem } from './header-fields.ts'

/** The head of a request. */
export type RequestHead = {
  readonly method: string
  /** As it was sent, with percent escapes. Characters outside ASCII are escaped. */
  readonly path: string
  /** The part after the question mark, or an empty string. */
  readonly query: string
  readonly fields: HeaderFields
  /** The length of the body in bytes, or that it is chunked. A request without either has no body. */
  readonly framing: number | 'chunked'
  /** HTTP/1.0 has neither chunked bodies nor interim responses. */
  readonly isHttp10: boolean
  /** Whether the client wants to use the connection again. */
  readonly isKeepAlive: boolean
  /** Whether the client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean
}

/** Twice the length of the longest registered method. */
const METHOD_BYTES_MAX = 32

const SPACE = 32
const SLASH = 47
const ZERO = 48
const QUESTION_MARK = 63
const PROTOCOL = ' HTTP/1.'
const NOT_ASCII = /[\u0080-\u00ff]/g

/**
 * Reads the head that begins at `at`. Rejects everything that another implementation could read differently. A
 * malformed head is reported before its end has arrived. The bytes are kept and must not change.
 */
export function readRequestHead(bytes: Buffer, at: number): RequestHead | HeadProblem {
  const methodEnd = endOf(TOKEN, bytes, at)
  if (methodEnd === bytes.length && methodEnd - at <= METHOD_BYTES_MAX) return 'partial'
  if (methodEnd === at || bytes[methodEnd] !== SPACE) return 'malformed'
  const start = methodEnd + 1
  const targetEnd = endOf(TARGET, bytes, start)
  for (let index = 0; index < PROTOCOL.length; index += 1) {
    if (targetEnd + index === bytes.length) return 'partial'
    if (bytes[targetEnd + index] !== PROTOCOL.charCodeAt(index)) return 'malformed'
  }
  const versionAt = targetEnd + PROTOCOL.length
  if (versionAt === bytes.length) return 'partial'
  const minor = (bytes[versionAt] ?? 0) - ZERO
  if (targetEnd === start || (minor !== 0 && minor !== 1)) return 'malformed'
  if (!isLineEnd(bytes, versionAt + 1)) return lineProblem(bytes, versionAt + 1)
  const fields = HeaderFields.read(bytes, versionAt + 3)
  if (typeof fields === 'string') return fields

  const isHttp10 = minor === 0
  const hosts = fields.countOf('host')
  const framing = fields.framing() ?? 0
  if (hosts > 1 || (hosts === 0 && !isHttp10)) return 'malformed'
  if (!fields.hasOnly('host', HOST_NAME, isHost)) return 'malformed'
  if (framing === 'malformed' || (framing === 'chunked' && isHttp10)) return 'malformed'
  const pathStart =
    bytes[start] === SLASH ? start : startOfPath(bytes.toString('latin1', start, targetEnd), start)
  let pathEnd = pathStart
  while (pathEnd < targetEnd && bytes[pathEnd] !== QUESTION_MARK) pathEnd += 1
  const isKeepAlive =
    !fields.hasConnectionOption('close') && (!isHttp10 || fields.hasConnectionOption('keep-alive'))
  return {
    method: methodOf(bytes, at, methodEnd),
    path: pathEnd === pathStart ? '/' : textOf(bytes, pathStart, pathEnd),
    query: pathEnd === targetEnd ? '' : textOf(bytes, pathEnd + 1, targetEnd),
    fields,
    framing,
    isHttp10,
    isKeepAlive,
    expectsContinue: !isHttp10 && fields.get('expect')?.toLowerCase() === '100-continue',
  }
}

/** The form of RFC 9112, section 3.2: a name or an IPv4 address, or an IPv6 address in brackets, and a port. */
const HOST = /^(?:[0-9a-z._~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i

function isHost(value: string): boolean {
  return HOST.test(value)
}

/** Makes no new string for the common methods. */
function methodOf(bytes: Buffer, start: number, end: number): string {
  if (isText(bytes, start, end, 'POST')) return 'POST'
  return isText(bytes, start, end, 'GET') ? 'GET' : bytes.toString('latin1', start, end)
}

function isText(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index += 1) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false
  }
  return true
}

/** The position after the host when the target is a URL, as in requests to proxies. */
function startOfPath(target: string, at: number): number {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)
  return origin === null ? at : at + origin[0].length
}

/** Escapes bytes outside ASCII, which some clients send unescaped. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, end)
  for (let at = start; at < end; at += 1) {
    if ((bytes[at] ?? 0) > 127)
      return text.replaceAll(NOT_ASCII, char => `%${char.charCodeAt(0).toString(16)}`)
  }
  return text
}
