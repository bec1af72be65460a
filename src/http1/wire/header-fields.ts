import { endOf, TOKEN, VALUE } from './char-class.ts'

/** Fields of one head. A message with more was not made by one that means well. */
const FIELDS_MAX = 200
/** Most heads have fewer; room for so many is made at once. */
const FIELDS_USUAL = 24

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

const LINE_END_BYTES = 2

/** Why bytes are no head: its end has not come; or they can be read in two ways, or in none; or are too many. */
export type HeadProblem = 'partial' | 'malformed' | 'too_many'

/**
 * The header fields of a message. They stay the bytes they came in, with the places where names and values stand: most are never
 * asked for, and are made into nothing.
 */
export class HeaderFields {
  /** Behind the blank line after them: where the body begins. */
  end = 0
  /** How many there are: each has its index, in the order in which they came. */
  count = 0
  readonly #bytes: Buffer
  /** Where the line of each begins, and behind the last one where the blank line does. */
  #lines = new Int32Array(FIELDS_USUAL + 1)

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

  /** How many of them have this name, whose letters are small. */
  countOf(name: string): number {
    let count = 0
    for (let index = 0; index < this.count; index += 1) if (this.isNamed(index, name)) count += 1
    return count
  }

  /** Whether the field's name is this one, or begins with it, whose letters are small. */
  isNamed(index: number, name: string, how: 'whole' | 'beginning' = 'whole'): boolean {
    const bytes = this.#bytes
    const start = this.#lines[index] ?? 0
    // No name has a colon in it: so most fields are told apart by the lengths of their names alone.
    if (how === 'whole' && bytes[start + name.length] !== COLON) return false
    for (let at = 0; at < name.length; at += 1) {
      const expected = name.charCodeAt(at)
      const actual = bytes[start + at] ?? 0
      const isCapital = actual >= CAPITAL_A && actual <= CAPITAL_Z
      if (actual !== expected && !(isCapital && actual + CASE === expected)) return false
    }
    return true
  }

  /** The name in lower case. */
  nameAt(index: number): string {
    const start = this.#lines[index] ?? 0
    return this.#bytes.toString('latin1', start, this.#bytes.indexOf(COLON, start)).toLowerCase()
  }

  valueAt(index: number): string {
    return this.#bytes.toString('latin1', this.#valueStart(index), this.#valueEnd(index))
  }

  /** How the body travels; undefined where nothing is said of it, and `malformed` where that can be understood in two ways. */
  framing(): number | 'chunked' | 'malformed' | undefined {
    let found = -1
    for (let index = 0; index < this.count; index += 1) {
      if (!this.isNamed(index, 'content-length') && !this.isNamed(index, 'transfer-encoding')) continue
      if (found >= 0) return 'malformed'
      found = index
    }
    if (found < 0) return undefined
    if (this.isNamed(found, 'content-length')) return this.#lengthAt(found)
    return this.valueAt(found).toLowerCase() === 'chunked' ? 'chunked' : 'malformed'
  }

  /** Whether the `connection` field has this word in it, alone or among others. */
  saysOfConnection(word: 'close' | 'keep-alive'): boolean {
    const list = this.get('connection')?.toLowerCase()
    if (list === undefined || list === word) return list === word
    return list.split(',').some(one => one.trim() === word)
  }

  /** Digits only, and no more than a number can say exactly. */
  #lengthAt(index: number): number | 'malformed' {
    const start = this.#valueStart(index)
    const end = this.#valueEnd(index)
    let length = 0
    for (let at = start; at < end; at += 1) {
      const digit = (this.#bytes[at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) return 'malformed'
      length = 10 * length + digit
    }
    return start >= end || length > Number.MAX_SAFE_INTEGER ? 'malformed' : length
  }

  #colonOf(index: number): number {
    let at = this.#lines[index] ?? 0
    while (this.#bytes[at] !== COLON) at += 1
    return at
  }

  #valueStart(index: number): number {
    let at = this.#colonOf(index) + 1
    while (isBlank(this.#bytes[at])) at += 1
    return at
  }

  #valueEnd(index: number): number {
    let at = (this.#lines[index + 1] ?? 0) - LINE_END_BYTES
    while (isBlank(this.#bytes[at - 1])) at -= 1
    return at
  }

  #read(at: number): HeadProblem | undefined {
    const bytes = this.#bytes
    let position = at
    for (;;) {
      const nameEnd = endOf(TOKEN, bytes, position)
      if (nameEnd === position) {
        if (!isLineEnd(bytes, position)) return lineProblem(bytes, position)
        this.#lines[this.count] = position
        this.end = position + LINE_END_BYTES
        return undefined
      }
      if (nameEnd === bytes.length) return 'partial'
      // A space is not allowed before the colon.
      if (bytes[nameEnd] !== COLON) return 'malformed'
      const lineEnd = endOf(VALUE, bytes, nameEnd + 1)
      if (!isLineEnd(bytes, lineEnd)) return lineProblem(bytes, lineEnd)
      if (this.count === FIELDS_MAX) return 'too_many'
      this.#note(position)
      position = lineEnd + LINE_END_BYTES
    }
  }

  #note(line: number): void {
    if (this.count === FIELDS_USUAL) {
      const more = new Int32Array(FIELDS_MAX + 1)
      more.set(this.#lines)
      this.#lines = more
    }
    this.#lines[this.count] = line
    this.count += 1
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
