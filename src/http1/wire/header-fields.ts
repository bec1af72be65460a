import { endOf, TOKEN, VALUE } from './char-class.ts'

/** The most fields that a head may have. */
const FIELDS_MAX = 200

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const ZERO = 48
const COLON = 58
const CAPITAL_A = 65
const CAPITAL_Z = 90
/** The distance from an upper-case letter to the lower-case one. */
const CASE = 32

const LINE_END_BYTES = 2

/**
 * Why bytes cannot be read as a head: the end has not arrived, they are malformed or ambiguous, or there are too many
 * fields.
 */
export type HeadProblem = 'partial' | 'malformed' | 'too_many'

/**
 * The header fields of a message, as the received bytes and the positions of the lines. Strings are made only of fields
 * that are asked for, because most fields are not.
 */
export class HeaderFields {
  /** The position after the blank line, where the body begins. */
  end = 0
  /** The number of fields. They have indexes in the order in which they arrived. */
  count = 0
  readonly #bytes: Buffer
  /** The positions where the lines begin. The last one is of the blank line. */
  readonly #lines: number[] = []

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  static none(): HeaderFields {
    return new HeaderFields(Buffer.alloc(0))
  }

  /**
   * Reads the lines from `at` to the blank line. Rejects folded lines, spaces before colons, and line ends other than
   * CRLF. A malformed line is reported before its end has arrived. The bytes are kept and must not change.
   */
  static read(bytes: Buffer, at: number): HeaderFields | HeadProblem {
    const fields = new HeaderFields(bytes)
    const problem = fields.#read(at)
    return problem ?? fields
  }

  /**
   * The value of a field, by its name in lower case; the values of repeated fields joined by commas; null for an
   * unknown field.
   */
  get(name: string): string | null {
    let found: string | null = null
    for (let index = 0; index < this.count; index += 1) {
      if (!this.isNamed(index, name)) continue
      found = found === null ? this.valueAt(index) : `${found}, ${this.valueAt(index)}`
    }
    return found
  }

  /** How many fields have this name, given in lower case. */
  countOf(name: string): number {
    let count = 0
    for (let index = 0; index < this.count; index += 1) if (this.isNamed(index, name)) count += 1
    return count
  }

  /** Whether a field has this name, or one that begins with it. `name` is in lower case. */
  isNamed(index: number, name: string, match: 'exact' | 'prefix' = 'exact'): boolean {
    const bytes = this.#bytes
    const start = this.#lines[index] ?? 0
    // Names of other lengths have no colon here, so that most fields need only this comparison.
    if (match === 'exact' && bytes[start + name.length] !== COLON) return false
    for (let at = 0; at < name.length; at += 1) {
      const expected = name.charCodeAt(at)
      const actual = bytes[start + at] ?? 0
      const isCapital = actual >= CAPITAL_A && actual <= CAPITAL_Z
      if (actual !== expected && !(isCapital && actual + CASE === expected)) return false
    }
    return true
  }

  /**
   * Whether each field of this name, given in lower case, has only characters of this class, or is accepted by
   * `isValid`.
   */
  hasOnly(name: string, charClass: number, isValid: (value: string) => boolean): boolean {
    for (let index = 0; index < this.count; index += 1) {
      if (!this.isNamed(index, name)) continue
      const isUsual = endOf(charClass, this.#bytes, this.#valueStart(index)) >= this.#valueEnd(index)
      if (!isUsual && !isValid(this.valueAt(index))) return false
    }
    return true
  }

  /** The name in lower case. */
  nameAt(index: number): string {
    return this.#bytes.toString('latin1', this.#lines[index], this.#colonOf(index)).toLowerCase()
  }

  valueAt(index: number): string {
    return this.#bytes.toString('latin1', this.#valueStart(index), this.#valueEnd(index))
  }

  /** How the end of the body is found; undefined when no field says it; `malformed` when the fields are ambiguous. */
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

  /** Whether the `connection` field lists this option. */
  hasConnectionOption(option: 'close' | 'keep-alive'): boolean {
    const list = this.get('connection')?.toLowerCase()
    if (list === undefined || list === option) return list === option
    return list.split(',').some(item => item.trim() === option)
  }

  /** Accepts digits only, up to the largest exact number. */
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
        this.#lines.push(position)
        this.end = position + LINE_END_BYTES
        return undefined
      }
      if (nameEnd === bytes.length) return 'partial'
      // Spaces before the colon are not allowed.
      if (bytes[nameEnd] !== COLON) return 'malformed'
      const lineEnd = endOf(VALUE, bytes, nameEnd + 1)
      if (!isLineEnd(bytes, lineEnd)) return lineProblem(bytes, lineEnd)
      if (this.count === FIELDS_MAX) return 'too_many'
      this.#lines.push(position)
      this.count += 1
      position = lineEnd + LINE_END_BYTES
    }
  }
}

export function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF
}

/** The problem with a line that does not end at `at`. */
export function lineProblem(bytes: Uint8Array, at: number): HeadProblem {
  const isCut = at === bytes.length || (bytes[at] === CR && at + 1 === bytes.length)
  return isCut ? 'partial' : 'malformed'
}

function isBlank(char: number | undefined): boolean {
  return char === SPACE || char === TAB
}
