import { endOf, TOKEN, VALUE } from './char-class.ts'

/** Fields of one head. A message with more was not made by one that means well. */
const FIELDS_MAX = 200
/** Most heads have fewer; room for so many is made at once. */
const FIELDS_USUAL = 24
/** Of each field in turn: where its name begins and ends, and where its value does. */
const PLACES = 4

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const ZERO = 48
const COLON = 58
const CAPITAL_A = 65
const CAPITAL_Z = 90
/** From a capital letter to the small one. */
const CASE = 32

/** Why bytes are no head: its end has not come; or they can be read in two ways, or in none; or are too many. */
export type HeadProblem = 'partial' | 'malformed' | 'too_many'

/**
 * The header fields of a message. They stay the bytes they came in, with the places where names and values stand: most are never
 * asked for, and are made into nothing.
 */
export class HeaderFields {
  /** Behind the blank line after them: where the body begins. */
  end = 0
  readonly #bytes: Buffer
  #places = new Int32Array(PLACES * FIELDS_USUAL)
  #placesEnd = 0

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  static none(): HeaderFields {
    return new HeaderFields(Buffer.alloc(0))
  }

  /**
   * Reads the lines from `at` to the blank line. Strict in names, colons, folded lines and line ends; what cannot become a field is
   * said before its end has come. The bytes are kept, and must stay as they are.
   */
  static read(bytes: Buffer, at: number): HeaderFields | HeadProblem {
    const fields = new HeaderFields(bytes)
    const problem = fields.#read(at)
    return problem ?? fields
  }

  /** A field's value, by its name in small letters; those of several of the name with commas between; null for none. */
  get(name: string): string | null {
    let found: string | null = null
    for (let index = 0; index < this.count; index += 1) {
      if (!this.isNamed(index, name)) continue
      found = found === null ? this.valueAt(index) : `${found}, ${this.valueAt(index)}`
    }
    return found
  }

  /** How many there are: each has its index, in the order in which they came. */
  get count(): number {
    return this.#placesEnd / PLACES
  }

  /** How many of them have this name, whose letters are small. */
  countOf(name: string): number {
    let count = 0
    for (let index = 0; index < this.count; index += 1) if (this.isNamed(index, name)) count += 1
    return count
  }

  /** Whether the field's name is this one, or begins with it, whose letters are small. */
  isNamed(index: number, name: string, how: 'whole' | 'beginning' = 'whole'): boolean {
    const start = this.#places[PLACES * index] ?? 0
    const length = (this.#places[PLACES * index + 1] ?? 0) - start
    if (how === 'whole' ? length !== name.length : length < name.length) return false
    const bytes = this.#bytes
    for (let at = 0; at < name.length; at += 1) {
      const expected = name.charCodeAt(at)
      const actual = bytes[start + at] ?? 0
      const isCapital = actual >= CAPITAL_A && actual <= CAPITAL_Z
      if (actual !== expected && !(isCapital && actual + CASE === expected)) return false
    }
    return true
  }

  /** In small letters. */
  nameAt(index: number): string {
    const at = PLACES * index
    return this.#bytes.toString('latin1', this.#places[at], this.#places[at + 1]).toLowerCase()
  }

  valueAt(index: number): string {
    const at = PLACES * index
    return this.#bytes.toString('latin1', this.#places[at + 2], this.#places[at + 3])
  }

  /** How the body travels; undefined where nothing is said of it, and `malformed` where that can be understood in two ways. */
  framing(): number | 'chunked' | 'malformed' | undefined {
    const lengths = this.countOf('content-length')
    const encodings = this.countOf('transfer-encoding')
    if (lengths + encodings > 1) return 'malformed'
    if (encodings === 1)
      return this.get('transfer-encoding')?.toLowerCase() === 'chunked' ? 'chunked' : 'malformed'
    return lengths === 1 ? this.#contentLength() : undefined
  }

  /** Digits only, and no more than a number can say exactly. */
  #contentLength(): number | 'malformed' {
    let index = 0
    while (!this.isNamed(index, 'content-length')) index += 1
    const start = this.#places[PLACES * index + 2] ?? 0
    const end = this.#places[PLACES * index + 3] ?? 0
    let length = 0
    for (let at = start; at < end; at += 1) {
      const digit = (this.#bytes[at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) return 'malformed'
      length = 10 * length + digit
    }
    return start === end || length > Number.MAX_SAFE_INTEGER ? 'malformed' : length
  }

  /** Whether the `connection` field has this word in it, alone or among others. */
  saysOfConnection(word: 'close' | 'keep-alive'): boolean {
    const list = this.get('connection')?.toLowerCase()
    if (list === undefined || list === word) return list === word
    return list.split(',').some(one => one.trim() === word)
  }

  #read(at: number): HeadProblem | undefined {
    const bytes = this.#bytes
    let position = at
    for (;;) {
      const nameEnd = endOf(TOKEN, bytes, position)
      if (nameEnd === position) {
        if (!isLineEnd(bytes, position)) return lineProblem(bytes, position)
        this.end = position + 2
        return undefined
      }
      if (nameEnd === bytes.length) return 'partial'
      // A space is not allowed before the colon.
      if (bytes[nameEnd] !== COLON) return 'malformed'
      let valueStart = nameEnd + 1
      while (isBlank(bytes[valueStart])) valueStart += 1
      const lineEnd = endOf(VALUE, bytes, valueStart)
      if (!isLineEnd(bytes, lineEnd)) return lineProblem(bytes, lineEnd)
      let valueEnd = lineEnd
      while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd -= 1
      if (this.#placesEnd === PLACES * FIELDS_MAX) return 'too_many'
      this.#note(position, nameEnd, valueStart, valueEnd)
      position = lineEnd + 2
    }
  }

  #note(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    if (this.#placesEnd === this.#places.length) {
      const more = new Int32Array(PLACES * FIELDS_MAX)
      more.set(this.#places)
      this.#places = more
    }
    const places = this.#places
    const at = this.#placesEnd
    places[at] = nameStart
    places[at + 1] = nameEnd
    places[at + 2] = valueStart
    places[at + 3] = valueEnd
    this.#placesEnd = at + PLACES
  }
}

export function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF
}

/** Where a line should end, and does not. */
export function lineProblem(bytes: Uint8Array, at: number): HeadProblem {
  const isCut = at === bytes.length || (bytes[at] === CR && at + 1 === bytes.length)
  return isCut ? 'partial' : 'malformed'
}

function isBlank(char: number | undefined): boolean {
  return char === SPACE || char === TAB
}
