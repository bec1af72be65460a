import { HeaderFields } from '../../http1/header-fields.ts'

/** The head of a response, and how its body ends. */
export type ResponseHead = {
  readonly status: number
  readonly fields: HeaderFields
  readonly framing: BodyFraming
  /** Whether the server keeps the connection for another request. */
  readonly isKept: boolean
}

/** The number of bytes; or in chunks; or until the connection closes. */
export type BodyFraming = number | 'chunked' | 'until_close'

const LINE_END = '\r\n'
/** `HTTP/1.1 200` */
const STATUS_END = 12
const SPACE = 32
const CR = 13
const ZERO = 48

/**
 * Reads a head, without the blank line at its end; undefined where it is not one, or where its framing could be read in
 * two ways (several lengths, a length beside chunks): whoever guessed there could take one answer for the next.
 */
export function parseHead(text: string): ResponseHead | undefined {
  const isOld = text.startsWith('HTTP/1.0 ')
  if (!isOld && !text.startsWith('HTTP/1.1 ')) return undefined
  const status = statusOf(text)
  if (status === undefined) return undefined
  const firstEnd = text.indexOf(LINE_END, STATUS_END)
  const fields = firstEnd < 0 ? HeaderFields.none() : HeaderFields.read(text, firstEnd + LINE_END.length)
  if (typeof fields === 'string' || (isOld && fields.isChunked)) return undefined
  const said = fields.isChunked ? 'chunked' : (fields.contentLength ?? 'until_close')
  const framing = hasNoBody(status) ? 0 : said
  return {
    status,
    fields,
    framing,
    isKept: !isOld && fields.connection !== 'close' && framing !== 'until_close',
  }
}

/** Three digits, and behind them a space and words, or nothing. */
function statusOf(text: string): number | undefined {
  let status = 0
  for (let at = STATUS_END - 3; at < STATUS_END; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    // Not a number at the end of the text.
    if (!(digit >= 0 && digit <= 9)) return undefined
    status = 10 * status + digit
  }
  const behind = text.charCodeAt(STATUS_END)
  const isWhole = text.length === STATUS_END || behind === SPACE || behind === CR
  return isWhole && status >= 100 && status <= 599 ? status : undefined
}

function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}
