import { endOf, TARGET, TOKEN } from './char-class.ts'
import { HeaderFields, isLineEnd, lineProblem, type HeadProblem } from './header-fields.ts'

/** The head of a request, and how its body travels. */
export type RequestHead = {
  readonly method: string
  /** As it was sent, percent escapes and all; what is no ASCII is escaped. */
  readonly path: string
  /** Behind the question mark; empty where there is none. */
  readonly query: string
  readonly fields: HeaderFields
  /** The number of bytes of the body, none for a request that does not say; or in chunks. */
  readonly framing: number | 'chunked'
  /** Whether the client speaks HTTP/1.0, which knows no chunks and no interim answers. */
  readonly isOld: boolean
  /** Whether the client keeps the connection for another request. */
  readonly isKept: boolean
  /** Whether the client sends its body only when it is told to. */
  readonly expectsContinue: boolean
}

/** The longest that is registered has half of that. */
const METHOD_BYTES_MAX = 32

const SPACE = 32
const SLASH = 47
const ZERO = 48
const QUESTION_MARK = 63
const PROTOCOL = ' HTTP/1.'
const NOT_ASCII = /[\u0080-\u00ff]/g

/**
 * Reads the head that begins at `at`; what is none is said before its end has come. Nothing that two readers could understand
 * differently is let through. The bytes are kept, and must stay as they are.
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

  const isOld = minor === 0
  const hosts = fields.countOf('host')
  const framing = fields.framing() ?? 0
  if (hosts > 1 || (hosts === 0 && !isOld)) return 'malformed'
  if (framing === 'malformed' || (framing === 'chunked' && isOld)) return 'malformed'
  const pathStart =
    bytes[start] === SLASH ? start : startOfPath(bytes.toString('latin1', start, targetEnd), start)
  let pathEnd = pathStart
  while (pathEnd < targetEnd && bytes[pathEnd] !== QUESTION_MARK) pathEnd += 1
  const isKept = !fields.saysOfConnection('close') && (!isOld || fields.saysOfConnection('keep-alive'))
  return {
    method: methodOf(bytes, at, methodEnd),
    path: pathEnd === pathStart ? '/' : textOf(bytes, pathStart, pathEnd),
    query: pathEnd === targetEnd ? '' : textOf(bytes, pathEnd + 1, targetEnd),
    fields,
    framing,
    isOld,
    isKept,
    expectsContinue: !isOld && fields.get('expect')?.toLowerCase() === '100-continue',
  }
}

/** Of the usual ones no text is made. */
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

/** Behind the host where the target is a whole URL, as proxies are sent. */
function startOfPath(target: string, at: number): number {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)
  return origin === null ? at : at + origin[0].length
}

/** With bytes that are no ASCII, as clients that do not escape send them, escaped. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, end)
  for (let at = start; at < end; at += 1) {
    if ((bytes[at] ?? 0) > 127)
      return text.replaceAll(NOT_ASCII, char => `%${char.charCodeAt(0).toString(16)}`)
  }
  return text
}
