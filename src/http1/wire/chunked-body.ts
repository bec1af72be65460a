/** What one chunk's length, with its extensions, or one trailer line may take. */
const LINE_BYTES_MAX = 8 * 1024
/** All trailers together. */
const TRAILER_BYTES_MAX = 64 * 1024

const CR = 13
const LF = 10
const DIGITS_MAX = 12
const LENGTH = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i

/** Takes a body out of its chunks, however its bytes are cut. */
export class ChunkedBody {
  /** `whole` once the last chunk and its trailers have come; `broken` for good after what is no chunk. */
  state: 'length' | 'content' | 'after_content' | 'trailers' | 'whole' | 'broken' = 'length'
  #missing = 0
  #line = ''
  #trailerBytes = 0
  /** Where the content in the bytes fed last begins and ends. */
  contentStart = 0
  contentEnd = 0

  /**
   * Takes bytes from `at` and gives where it stopped, which is before their end where the body is whole or broken. The
   * content is then in `bytes` itself, moved together: one piece, however many the chunks.
   */
  feed(bytes: Buffer, at: number): number {
    this.contentStart = this.contentEnd = at
    let position = at
    while (position < bytes.length && this.state !== 'whole' && this.state !== 'broken') {
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
      this.state = 'broken'
      return at
    }
    this.#line += bytes.toString('latin1', at, stop)
    if (end < 0) {
      // What cannot become a line is known before its end, which may never come.
      if (this.state === 'after_content' && this.#line !== '\r') this.state = 'broken'
      return stop
    }
    if (this.#line.charCodeAt(this.#line.length - 1) !== CR) this.state = 'broken'
    else this.#onLine(this.#line.slice(0, -1))
    this.#line = ''
    return end + 1
  }

  /** A length without extensions, or the line end behind content, where it is there whole: nearly every line is. Else -1. */
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
      if (match === null) this.state = 'broken'
      else this.state = this.#missing === 0 ? 'trailers' : 'content'
    } else if (this.state === 'after_content') this.state = line === '' ? 'length' : 'broken'
    else if (line === '') this.state = 'whole'
    else {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > TRAILER_BYTES_MAX) this.state = 'broken'
    }
  }
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
