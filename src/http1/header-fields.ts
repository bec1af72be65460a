/** Fields of one head. A request with more was not made by a client that means well. */
const FIELDS_MAX = 200

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const COLON = 58
const CAPITAL_A = 65
const CAPITAL_Z = 90
/** From a capital letter to the small one. */
const CASE = 32
const DELETE = 127

/** Which characters a name may have: a token's. */
const isTokenChar = tokenChars()

export type FieldsProblem = 'malformed' | 'too_many'

/**
 * The header fields of a message. They stay the text they came in, with the places where names and values stand: most are
 * never asked for, and are made into nothing. What says how the message travels has been read on the way.
 */
export class HeaderFields {
  /** Undefined where there is none. */
  contentLength: number | undefined = undefined
  isChunked = false
  /** What `connection` says of the time after this message. */
  connection: 'close' | 'keep-alive' | undefined = undefined
  hosts = 0
  expectsContinue = false
  readonly #text: string
  /** Of each field in turn: where its name begins and ends, and where its value does. */
  readonly #places: number[] = []

  private constructor(text: string) {
    this.#text = text
  }

  static none(): HeaderFields {
    return new HeaderFields('')
  }

  /**
   * Reads the lines of `text` from `at` to its end, which is where the blank line was. Strict in all that two readers could
   * take in two ways: names and colons, folded lines, lengths, more than one framing.
   */
  static read(text: string, at: number): HeaderFields | FieldsProblem {
    const fields = new HeaderFields(text)
    const places = fields.#places
    let position = at
    while (position < text.length) {
      const nameStart = position
      while (isTokenChar[text.charCodeAt(position)] === 1) position += 1
      // A folded line has no name; nor is a space allowed before the colon.
      if (position === nameStart || text.charCodeAt(position) !== COLON) return 'malformed'
      const nameEnd = position
      do position += 1
      while (isBlank(text.charCodeAt(position)))
      const valueStart = position
      while (isValueChar(text.charCodeAt(position))) position += 1
      let valueEnd = position
      while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd -= 1
      if (position < text.length) {
        if (text.charCodeAt(position) !== CR || text.charCodeAt(position + 1) !== LF) return 'malformed'
        position += 2
        // The line that ends here was not the last, and yet nothing follows.
        if (position === text.length) return 'malformed'
      }
      places.push(nameStart, nameEnd, valueStart, valueEnd)
      if (places.length > 4 * FIELDS_MAX) return 'too_many'
      if (!fields.#note(nameStart, nameEnd, valueStart, valueEnd)) return 'malformed'
    }
    return fields.isChunked && fields.contentLength !== undefined ? 'malformed' : fields
  }

  /** A field's value, by its name in small letters; those of several of the name with commas between; null for none. */
  get(name: string): string | null {
    const places = this.#places
    let found: string | null = null
    for (let index = 0; index < places.length; index += 4) {
      const start = places[index] ?? 0
      if ((places[index + 1] ?? 0) - start !== name.length || !this.#isAt(start, name)) continue
      const value = this.#text.slice(places[index + 2], places[index + 3])
      found = found === null ? value : `${found}, ${value}`
    }
    return found
  }

  /** How many there are: each has its index, in the order in which they came. */
  get count(): number {
    return this.#places.length / 4
  }

  /** Whether the field's name is this one, or begins with it, whose letters are small. */
  isNamed(index: number, name: string, how: 'whole' | 'beginning' = 'whole'): boolean {
    const start = this.#places[4 * index] ?? 0
    const length = (this.#places[4 * index + 1] ?? 0) - start
    const fits = how === 'whole' ? length === name.length : length >= name.length
    return fits && this.#isAt(start, name)
  }

  /** In small letters. */
  nameAt(index: number): string {
    return this.#text.slice(this.#places[4 * index], this.#places[4 * index + 1]).toLowerCase()
  }

  valueAt(index: number): string {
    return this.#text.slice(this.#places[4 * index + 2], this.#places[4 * index + 3])
  }

  /** Keeps what a field says of the framing. False where it cannot be, or was said before. */
  #note(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): boolean {
    // By their lengths first: hardly any other field is compared at all.
    switch (nameEnd - nameStart) {
      case 4:
        if (this.#isAt(nameStart, 'host')) this.hosts += 1
        return true
      case 6:
        if (!this.#isAt(nameStart, 'expect')) return true
        this.expectsContinue = /^100-continue$/i.test(this.#text.slice(valueStart, valueEnd))
        return true
      case 10:
        if (this.#isAt(nameStart, 'connection')) this.#noteConnection(this.#text.slice(valueStart, valueEnd))
        return true
      case 14:
        if (!this.#isAt(nameStart, 'content-length')) return true
        if (this.contentLength !== undefined) return false
        this.contentLength = numberIn(this.#text, valueStart, valueEnd)
        return this.contentLength !== undefined
      case 17:
        if (!this.#isAt(nameStart, 'transfer-encoding')) return true
        if (this.isChunked || !/^chunked$/i.test(this.#text.slice(valueStart, valueEnd))) return false
        this.isChunked = true
        return true
      default:
        return true
    }
  }

  #noteConnection(value: string): void {
    if (value === 'keep-alive') this.connection ??= 'keep-alive'
    else if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)) this.connection = 'close'
    else if (/(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i.test(value)) this.connection ??= 'keep-alive'
  }

  /** Whether `name`, which is in small letters, stands at `start` in whichever. */
  #isAt(start: number, name: string): boolean {
    const text = this.#text
    for (let index = 0; index < name.length; index += 1) {
      const expected = name.charCodeAt(index)
      const actual = text.charCodeAt(start + index)
      if (actual !== expected && !(isCapital(actual) && actual + CASE === expected)) return false
    }
    return true
  }
}

/** Digits only; undefined for anything else, and for more than a number can say exactly. */
function numberIn(text: string, start: number, end: number): number | undefined {
  if (end === start) return undefined
  let number = 0
  for (let index = start; index < end; index += 1) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
    if (number > Number.MAX_SAFE_INTEGER) return undefined
  }
  return number
}

function isCapital(char: number): boolean {
  return char >= CAPITAL_A && char <= CAPITAL_Z
}

function isBlank(char: number): boolean {
  return char === SPACE || char === TAB
}

/** False at the end of the text, where there is no character. */
function isValueChar(char: number): boolean {
  return (char >= SPACE && char !== DELETE) || char === TAB
}

function tokenChars(): Uint8Array {
  const table = new Uint8Array(256)
  const all = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  for (const char of all) table[char.charCodeAt(0)] = 1
  return table
}
