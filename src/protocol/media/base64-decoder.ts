const SPACE = -1
const PADDING = -2
const INVALID = -3

/** For fewer characters, the call costs more than it saves. */
const PLAIN_CHARACTERS_MIN = 1024
const WHOLE_GROUPS = { lastChunkHandling: 'stop-before-partial' } as const
const latin1 = new TextDecoder('latin1')

/** The value of each character of both alphabets, or the class of any other character. */
const codes = codeTable()

/**
 * Decodes base64 that arrives in pieces, in the standard or the URL-safe alphabet. Spaces and line ends may be
 * anywhere, and padding is optional.
 */
export class Base64Decoder {
  #bits = 0
  /** Characters of the group of four that is not complete. */
  #count = 0
  #paddings = 0
  #isInvalid = false
  #spaces = 0
  /** Whether all characters so far were of the standard alphabet. */
  #isPlain = true

  /** How many spaces and line ends were skipped. */
  get spaces(): number {
    return this.#spaces
  }

  /** Set after a character in a place where base64 does not allow it. */
  get isInvalid(): boolean {
    return this.#isInvalid
  }

  /** The number of bytes that `push` needs for this number of characters. */
  static roomFor(characters: number): number {
    return 3 * Math.ceil((characters + 3) / 4)
  }

  /**
   * Decodes the characters from `from` to `to` into `out`, starting at `at`. Returns the position after the last byte.
   */
  push(source: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
    let read = from
    let written = at
    // The rest of a group that began in earlier bytes.
    while (read < to && this.#count > 0 && !this.#isInvalid) {
      written = this.#pushOne(codes[source[read] ?? 0] ?? INVALID, out, written)
      read += 1
    }
    const plain = this.#pushPlain(source, read, to, out, written)
    read += plain
    written += (plain / 4) * 3
    while (read < to && !this.#isInvalid) {
      while (this.#count === 0 && this.#paddings === 0 && read + 4 <= to) {
        const first = codes[source[read] ?? 0] ?? INVALID
        const second = codes[source[read + 1] ?? 0] ?? INVALID
        const third = codes[source[read + 2] ?? 0] ?? INVALID
        const fourth = codes[source[read + 3] ?? 0] ?? INVALID
        // Negative if one of them is.
        const bits = (first << 18) | (second << 12) | (third << 6) | fourth
        if (bits < 0) break
        out[written] = bits >> 16
        out[written + 1] = bits >> 8
        out[written + 2] = bits
        written += 3
        read += 4
      }
      if (read === to) break
      written = this.#pushOne(codes[source[read] ?? 0] ?? INVALID, out, written)
      read += 1
    }
    return written
  }

  /** Decodes the rest at the end. Sets `isInvalid` if the text does not end on a byte. */
  finish(out: Uint8Array, at: number): number {
    const isCut = this.#count === 1 || (this.#paddings > 0 && this.#count + this.#paddings !== 4)
    this.#isInvalid ||= isCut
    if (this.#count < 2 || this.#isInvalid) return at
    out[at] = this.#bits >> (this.#count === 2 ? 4 : 10)
    if (this.#count === 3) out[at + 1] = this.#bits >> 2
    return at + this.#count - 1
  }

  /**
   * Decodes whole groups of four characters with the runtime's decoder, which is many times faster. Returns the number
   * of characters: 0 if any of them is not in the standard alphabet.
   */
  #pushPlain(source: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
    const length = to - from - ((to - from) % 4)
    if (length < PLAIN_CHARACTERS_MIN || !this.#isPlain || this.#count > 0 || this.#paddings > 0) return 0
    try {
      const text = latin1.decode(source.subarray(from, from + length))
      const { read, written } = out.subarray(at).setFromBase64(text, WHOLE_GROUPS)
      // With padding or spaces, there are fewer bytes.
      if (read === length && written === (length / 4) * 3) return length
    } catch {
      // Another alphabet, or not base64. The characters are decoded one by one.
    }
    this.#isPlain = false
    return 0
  }

  #pushOne(code: number, out: Uint8Array, at: number): number {
    if (code === SPACE) {
      this.#spaces += 1
      return at
    }
    if (code === PADDING) {
      this.#paddings += 1
      this.#isInvalid = this.#count < 2 || this.#count + this.#paddings > 4
      return at
    }
    if (code === INVALID || this.#paddings > 0) {
      this.#isInvalid = true
      return at
    }
    this.#bits = (this.#bits << 6) | code
    this.#count += 1
    if (this.#count < 4) return at
    out[at] = this.#bits >> 16
    out[at + 1] = this.#bits >> 8
    out[at + 2] = this.#bits
    this.#bits = 0
    this.#count = 0
    return at + 3
  }
}

function codeTable(): Int8Array {
  const table = new Int8Array(256).fill(INVALID)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let value = 0; value < alphabet.length; value += 1) table[alphabet.charCodeAt(value)] = value
  table['-'.charCodeAt(0)] = 62
  table['_'.charCodeAt(0)] = 63
  table['='.charCodeAt(0)] = PADDING
  for (const space of ' \t\r\n') table[space.charCodeAt(0)] = SPACE
  return table
}
