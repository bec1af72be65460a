import type { WantedField } from './http-request.ts'

/** The head of a response, and how its body ends. */
export type ResponseHead = {
  readonly status: number
  /** Names, in small letters, and values in turn, as they came: of the fields that were wanted. */
  readonly fields: readonly string[]
  readonly framing: BodyFraming
  /** Whether the server keeps the connection for another request. */
  readonly isKept: boolean
  /** How many bytes it took. */
  readonly length: number
}

/** The number of bytes; or in chunks; or until the connection closes. */
export type BodyFraming = number | 'chunked' | 'until_close'

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const ZERO = 48
const COLON = 58
const PROTOCOL = 'HTTP/1.'
/** `HTTP/1.1 200` */
const STATUS_CHARS = 12
const LENGTH_DIGITS_MAX = 15

/** For each byte that a field's name may have, its small letter; 0 for all others. */
const nameChars = new Uint8Array(256)
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  nameChars[char.charCodeAt(0)] = char.charCodeAt(0)
  nameChars[char.toUpperCase().charCodeAt(0)] = char.charCodeAt(0)
}

/**
 * Reads the head that begins at `from`; `partial` where its end has not come. Undefined where it is not one, as soon as that shows,
 * or where its framing could be read in two ways (several lengths, a length beside chunks): whoever guessed there could take one
 * answer for the next. A line may end without its CR, as RFC 9112 lets it; a CR anywhere else is refused.
 *
 * One walk over the bytes, which makes strings of what is wanted and of nothing else.
 */
export function parseHead(
  bytes: Buffer,
  from: number,
  wanted: readonly WantedField[],
): ResponseHead | 'partial' | undefined {
  if (!beginsLikeHttp(bytes, from)) return undefined
  let at = bytes.indexOf(LF, from) + 1
  if (at === 0) return 'partial'
  const status = statusOf(bytes, from)
  if (status === undefined) return undefined
  const read = new FieldReading(bytes[from + PROTOCOL.length] === ZERO)

  for (;;) {
    const nameStart = at
    at = afterName(bytes, at)
    const nameEnd = at
    if (nameEnd === nameStart) break
    if (at < bytes.length && bytes[at] !== COLON) return undefined
    at += 1
    while (isBlank(bytes[at])) at += 1
    const valueStart = at
    while ((bytes[at] as number) > CR || bytes[at] === TAB) at += 1
    let valueEnd = at
    while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd -= 1
    const next = nextLine(bytes, at)
    if (next === 'partial' || next === undefined) return next
    if (!read.take(bytes, { nameStart, nameEnd, valueStart, valueEnd }, wanted)) return undefined
    at = next
  }

  const end = nextLine(bytes, at)
  if (end === 'partial' || end === undefined) return end
  if (read.isChunked && read.length !== undefined) return undefined
  const framing = hasNoBody(status) ? 0 : read.isChunked ? 'chunked' : (read.length ?? 'until_close')
  const isKept = read.isKept && framing !== 'until_close'
  return { status, fields: read.fields, framing, isKept, length: end - from }
}

type FieldPlaces = {
  readonly nameStart: number
  readonly nameEnd: number
  readonly valueStart: number
  readonly valueEnd: number
}

/** What the fields of a head come to. */
class FieldReading {
  readonly fields: string[] = []
  readonly #isOld: boolean
  length: number | undefined
  isChunked = false
  isKept: boolean

  constructor(isOld: boolean) {
    this.#isOld = isOld
    this.isKept = !isOld
  }

  /** False for one that makes the head unreadable. */
  take(
    bytes: Buffer,
    { nameStart, nameEnd, valueStart, valueEnd }: FieldPlaces,
    wanted: readonly WantedField[],
  ): boolean {
    if (isNamed(bytes, nameStart, nameEnd, 'content-length')) {
      if (this.length !== undefined) return false
      this.length = numberIn(bytes, valueStart, valueEnd)
      return this.length !== undefined
    }
    if (isNamed(bytes, nameStart, nameEnd, 'transfer-encoding')) {
      const value = bytes.toString('latin1', valueStart, valueEnd).toLowerCase()
      if (this.isChunked || this.#isOld || value !== 'chunked') return false
      this.isChunked = true
      return true
    }
    if (isNamed(bytes, nameStart, nameEnd, 'connection')) {
      if (/\bclose\b/i.test(bytes.toString('latin1', valueStart, valueEnd))) this.isKept = false
      return true
    }
    const name = nameIfWanted(bytes, nameStart, nameEnd, wanted)
    if (name !== undefined) this.fields.push(name, bytes.toString('latin1', valueStart, valueEnd))
    return true
  }
}

/** Said of the first bytes already: what speaks another protocol may never send a blank line. */
function beginsLikeHttp(bytes: Buffer, from: number): boolean {
  const count = Math.min(PROTOCOL.length, bytes.length - from)
  for (let index = 0; index < count; index += 1) {
    if (bytes[from + index] !== PROTOCOL.charCodeAt(index)) return false
  }
  return true
}

/** `HTTP/1.1 200 OK`, of which the words may be missing. */
function statusOf(bytes: Buffer, from: number): number | undefined {
  const match = /^HTTP\/1\.[01] ([1-5][0-9]{2})$/.exec(bytes.toString('latin1', from, from + STATUS_CHARS))
  const behind = bytes[from + STATUS_CHARS]
  const isStatus = match !== null && (behind === SPACE || behind === CR || behind === LF)
  return isStatus ? Number(match[1]) : undefined
}

function afterName(bytes: Buffer, from: number): number {
  let at = from
  while ((nameChars[bytes[at] as number] as number) > 0) at += 1
  return at
}

/** Where the next line begins, if this one ends at `at`; undefined where something else stands there. */
function nextLine(bytes: Buffer, at: number): number | 'partial' | undefined {
  const lf = bytes[at] === CR ? at + 1 : at
  if (lf >= bytes.length) return 'partial'
  return bytes[lf] === LF ? lf + 1 : undefined
}

function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  return end - start === name.length && beginsWith(bytes, start, name)
}

function beginsWith(bytes: Buffer, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if (nameChars[bytes[start + index] as number] !== name.charCodeAt(index)) return false
  }
  return true
}

function nameIfWanted(
  bytes: Buffer,
  start: number,
  end: number,
  wanted: readonly WantedField[],
): string | undefined {
  for (const { name, isPrefix } of wanted) {
    if (isPrefix !== true) {
      if (isNamed(bytes, start, end, name)) return name
    } else if (end - start >= name.length && beginsWith(bytes, start, name)) {
      return bytes.toString('latin1', start, end).toLowerCase()
    }
  }
  return undefined
}

/** Digits and nothing else. */
function numberIn(bytes: Buffer, start: number, end: number): number | undefined {
  if (end === start || end - start > LENGTH_DIGITS_MAX) return undefined
  let length = 0
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) return undefined
    length = length * 10 + digit
  }
  return length
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}
