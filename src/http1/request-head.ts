import { HeaderFields, type FieldsProblem } from './header-fields.ts'

/** The head of a request, and how its body travels. */
export type RequestHead = {
  readonly method: string
  /** As it was sent, percent escapes and all; what is no ASCII is escaped. */
  readonly path: string
  /** Behind the question mark; empty where there is none. */
  readonly query: string
  readonly fields: HeaderFields
  /** The number of bytes, none for a request that does not say; or in chunks. */
  readonly framing: number | 'chunked'
  /** Whether the client speaks HTTP/1.0, which knows no chunks and no interim answers. */
  readonly isOld: boolean
  /** Whether the client keeps the connection for another request. */
  readonly isKept: boolean
}

const SPACE = 32
const SLASH = 47
const QUESTION_MARK = 63
const DELETE = 127

const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads a head, without the blank line at its end. Nothing that two readers could understand differently is let through. */
export function parseRequestHead(text: string): RequestHead | FieldsProblem {
  const methodEnd = text.indexOf(' ')
  const targetEnd = endOfTarget(text, methodEnd + 1)
  const lineEnd = targetEnd + ' HTTP/1.1'.length
  const isOld = text.startsWith(' HTTP/1.0', targetEnd)
  if (methodEnd <= 0 || targetEnd <= methodEnd + 1) return 'malformed'
  if (!isOld && !text.startsWith(' HTTP/1.1', targetEnd)) return 'malformed'
  if (lineEnd < text.length && !text.startsWith('\r\n', lineEnd)) return 'malformed'
  const method = text.slice(0, methodEnd)
  if (method !== 'POST' && method !== 'GET' && !METHOD.test(method)) return 'malformed'

  const fields = HeaderFields.read(text, lineEnd + 2)
  if (typeof fields === 'string') return fields
  const { hosts, connection, isChunked } = fields
  if (hosts > 1 || (hosts === 0 && !isOld) || (isChunked && isOld)) return 'malformed'

  const start = startOfPath(text, methodEnd + 1, targetEnd)
  const queryMark = text.indexOf('?', start)
  const hasQuery = queryMark >= 0 && queryMark < targetEnd
  const path = text.slice(start, hasQuery ? queryMark : targetEnd)
  return {
    method,
    path: path === '' ? '/' : escaped(path),
    query: hasQuery ? escaped(text.slice(queryMark + 1, targetEnd)) : '',
    fields,
    framing: isChunked ? 'chunked' : (fields.contentLength ?? 0),
    isOld,
    isKept: isOld ? connection === 'keep-alive' : connection !== 'close',
  }
}

/** The first character that no target has: the space behind it, where the line is as it should be. */
function endOfTarget(text: string, start: number): number {
  let position = start
  for (;;) {
    const char = text.charCodeAt(position)
    // Not a number at the end of the text.
    if (!(char > SPACE) || char === DELETE) return position
    position += 1
  }
}

/** Behind the host where the target is a whole URL, as proxies are sent. */
function startOfPath(text: string, start: number, end: number): number {
  if (text.charCodeAt(start) === SLASH) return start
  const scheme = /^https?:\/\//i.exec(text.slice(start, end))
  if (scheme === null) return start
  for (let position = start + scheme[0].length; position < end; position += 1) {
    const char = text.charCodeAt(position)
    if (char === SLASH || char === QUESTION_MARK) return position
  }
  return end
}

const NOT_ASCII = /[\u0080-\u00ff]/
const ALL_NOT_ASCII = /[\u0080-\u00ff]/g

/** Bytes that are no ASCII, as clients that do not escape send them. */
function escaped(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  return text.replaceAll(ALL_NOT_ASCII, char => `%${char.charCodeAt(0).toString(16)}`)
}
