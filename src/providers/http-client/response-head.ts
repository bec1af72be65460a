/** The head of a response, and how its body ends. */
export type ResponseHead = {
  readonly status: number
  /** Names, in lower case, and values in turn, as they came. */
  readonly fields: readonly string[]
  readonly framing: BodyFraming
  /** Whether the server keeps the connection for another request. */
  readonly isKept: boolean
}

/** The number of bytes; or in chunks; or until the connection closes. */
export type BodyFraming = number | 'chunked' | 'until_close'

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9]{2})(?: |$)/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const LENGTH = /^[0-9]{1,15}$/
const CONTROL = /[\0\r\n]/

/**
 * Reads a head, without the blank line at its end; undefined where it is not one, or where its framing could be read in
 * two ways (several lengths, a length beside chunks): whoever guessed there could take one answer for the next.
 */
export function parseHead(text: string): ResponseHead | undefined {
  let lineEnd = endOfLine(text, 0)
  const start = STATUS_LINE.exec(text.slice(0, lineEnd))
  if (start === null) return undefined
  const isOld = start[1] === '0'
  const status = Number(start[2])
  const fields: string[] = []
  let length: number | undefined
  let isChunked = false
  let isKept = !isOld

  while (lineEnd < text.length) {
    const at = lineEnd + 2
    lineEnd = endOfLine(text, at)
    const colon = text.indexOf(':', at)
    if (colon < 0 || colon >= lineEnd) return undefined
    const name = text.slice(at, colon).toLowerCase()
    const value = text.slice(colon + 1, lineEnd).trim()
    if (!FIELD_NAME.test(name) || CONTROL.test(value)) return undefined
    if (name === 'content-length') {
      if (length !== undefined || !LENGTH.test(value)) return undefined
      length = Number(value)
    } else if (name === 'transfer-encoding') {
      if (isChunked || isOld || value.toLowerCase() !== 'chunked') return undefined
      isChunked = true
    } else if (name === 'connection') {
      if (/\bclose\b/i.test(value)) isKept = false
    }
    fields.push(name, value)
  }

  if (isChunked && length !== undefined) return undefined
  const framing = hasNoBody(status) ? 0 : isChunked ? 'chunked' : (length ?? 'until_close')
  return { status, fields, framing, isKept: isKept && framing !== 'until_close' }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from)
  return end < 0 ? text.length : end
}

function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}
