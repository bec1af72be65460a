/** The longest line: a chunk size with its extensions, or a trailer field. */
const LINE_BYTES_MAX = 8 * 1024
/** All trailer fields together. */
const TRAILER_BYTES_MAX = 64 * 1024

const CR = 13
const LF = 10
const DIGITS_MAX = 12
/** No blanks around the size, which other implementations read differently, and no control characters behind it. */
const LENGTH = /^([0-9a-f]{1,12})(?:;[\t -~\u0080-\u00ff]*)?$/i
/** A header field, as in a head. */
const TRAILER = /^[!#$%&'*+.^_`|~0-9a-z-]+:[\t -~\u0080-\u00ff]*$/i

/** Decodes a chunked body from pieces of any size. */
export class ChunkedBody {
  /** `complete` after the last chunk and the trailers; `malformed` after an invalid chunk. Both are final. */
  state: 'length' | 'content' | 'after_content' | 'trailers' | 'complete' | 'malformed' = 'length'
  #missing = 0
  #line = ''
  #trailerBytes = 0
  /** The range of the content in the bytes that were fed last. */
  contentStart = 0
  contentEnd = 0

  /**
   * Takes bytes from `at` and returns the position after the last one taken, which is before their end when the body is
   * complete or malformed. Moves the content of all chunks together, so that it is one range of `bytes`.
   */
  feed(bytes: Buffer, at: number): number {
    this.contentStart = this.contentEnd = at
    let position = at
    while (position < bytes.length && this.state !== 'complete' && this.state !== 'malformed') {
      position =
        this.state === 'content' ? this.#takeContent(bytes, position) : this.#takeLine(bytes, position)
    }
    return position
  }

  #takeContent(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#missing)
    if (this.contentStart === this.contentEnd) {
      this.contentStart = at
      this.contentEnd = end
    } else {
      bytes.copyWithin(this.contentEnd, at, end)
      this.contentEnd += end - at
    }
    this.#missing -= end - at
    if (this.#missing === 0) this.state = 'after_content'
    return end
  }

  #takeLine(bytes: Buffer, at: number): number {
    const next = this.#line === '' ? this.#takeUsualLine(bytes, at) : -1
    if (next !== -1) return next
    const end = bytes.indexOf(LF, at)
    const stop = end < 0 ? bytes.length : end
    if (this.#line.length + stop - at > LINE_BYTES_MAX) {
      this.state = 'malformed'
      return at
    }
    this.#line += bytes.toString('latin1', at, stop)
    if (end < 0) {
      // The end of a malformed line may never arrive, so it is detected before that.
      if (this.state === 'after_content' && this.#line !== '\r') this.state = 'malformed'
      return stop
    }
    if (this.#line.charCodeAt(this.#line.length - 1) !== CR) this.state = 'malformed'
    else this.#onLine(this.#line.slice(0, -1))
    this.#line = ''
    return end + 1
  }

  /**
   * Takes a complete size without extensions, or the line end after content, as nearly every line is. Returns -1 for
   * any other.
   */
  #takeUsualLine(bytes: Buffer, at: number): number {
    let position = at
    if (this.state === 'length') {
      let length = 0
      for (; position < at + DIGITS_MAX; position += 1) {
        const digit = hexDigit(bytes[position])
        if (digit === -1) break
        length = length * 16 + digit
      }
      if (position === at || length === 0) return -1
      if (bytes[position] !== CR || bytes[position + 1] !== LF) return -1
      this.#missing = length
      this.state = 'content'
    } else {
      if (this.state !== 'after_content' || bytes[at] !== CR || bytes[at + 1] !== LF) return -1
      this.state = 'length'
    }
    return position + 2
  }

  #onLine(line: string): void {
    if (this.state === 'length') {
      const match = LENGTH.exec(line)
      this.#missing = match === null ? -1 : Number.parseInt(match[1] ?? '', 16)
      if (match === null) this.state = 'malformed'
      else this.state = this.#missing === 0 ? 'trailers' : 'content'
    } else if (this.state === 'after_content') this.state = line === '' ? 'length' : 'malformed'
    else if (line === '') this.state = 'complete'
    else {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > TRAILER_BYTES_MAX || !TRAILER.test(line)) this.state = 'malformed'
    }
  }
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
