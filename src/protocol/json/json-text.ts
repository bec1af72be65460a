import type { Bytes } from '../../domain/bytes.ts'
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
const SPACE = 0x20

/** The place of one member of an object. Ends are exclusive. */
export type Member = {
  /** The key with its quotes. */
  readonly keyStart: number
  readonly keyEnd: number
  /** The value. */
  readonly start: number
  readonly end: number
}

/** How far this code looks for the end of a string before it uses the native search. */
const NEAR_CHARS = 24

/**
 * Walks the members of the object whose brace is at `objectStart`, in order, duplicates included. Each `next()` moves
 * to the next member, and returns false after the last one. The text must be one that JSON.parse accepts: nothing is
 * checked here. The walk itself moves, so that members that are skipped need no object.
 */
export class MemberWalk implements Member {
  keyStart = 0
  keyEnd = 0
  start = 0
  end = 0
  /** The nesting depth of the values so far, including the object itself. */
  depth = 1
  readonly #text: string
  #at: number

  constructor(text: string, objectStart = text.indexOf('{')) {
    this.#text = text
    this.#at = skipSpace(text, objectStart + 1)
  }

  /** A walk that starts at the member whose key is at `keyStart`; undefined when that string is a value. */
  static from(text: string, keyStart: number): MemberWalk | undefined {
    const isKey = text.charCodeAt(skipSpace(text, afterString(text, keyStart))) === COLON
    return isKey ? new MemberWalk(text, keyStart - 1) : undefined
  }

  /** After the walk: whether only the object's brace and spaces are left of the text. */
  get endsText(): boolean {
    const text = this.#text
    return text.charCodeAt(this.#at) === BRACE_CLOSE && skipSpace(text, this.#at + 1) === text.length
  }

  next(): boolean {
    const text = this.#text
    if (text.charCodeAt(this.#at) !== QUOTE) return false
    this.keyStart = this.#at
    this.keyEnd = afterString(text, this.keyStart)
    // The next character that is not a space is the colon.
    this.start = skipSpace(text, skipSpace(text, this.keyEnd) + 1)
    this.end = afterValue(text, this.start, this)
    const at = skipSpace(text, this.end)
    this.#at = text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at
    return true
  }

  /** Whether this is the current member's key. `name` is plain ASCII. Decodes the key only if it has escapes. */
  isNamed(name: string): boolean {
    const text = this.#text
    const first = this.keyStart + 1
    const last = this.keyEnd - 1
    if (last - first === name.length && text.startsWith(name, first)) return true
    for (let at = first; at < last; at += 1) {
      if (text.charCodeAt(at) === BACKSLASH) return keyOf(text, this) === name
    }
    return false
  }

  /** A copy of the current member's place. */
  member(): Member {
    const { keyStart, keyEnd, start, end } = this
    return { keyStart, keyEnd, start, end }
  }
}

/** Walks the items of the array whose bracket is at `arrayStart`, like `MemberWalk`. */
export class ItemWalk {
  start = 0
  end = 0
  depth = 1
  readonly #text: string
  #at: number

  constructor(text: string, arrayStart: number) {
    this.#text = text
    this.#at = skipSpace(text, arrayStart + 1)
  }

  next(): boolean {
    const text = this.#text
    if (text.charCodeAt(this.#at) === BRACKET_CLOSE) return false
    this.start = this.#at
    this.end = afterValue(text, this.start, this)
    const at = skipSpace(text, this.end)
    this.#at = text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at
    return true
  }
}

/** The last member with that name, the one that JSON.parse keeps; undefined when there is none. */
export function lastNamed(text: string, name: string, objectStart?: number): Member | undefined {
  let last: Member | undefined
  for (const walk = new MemberWalk(text, objectStart); walk.next();) {
    if (walk.isNamed(name)) last = walk.member()
  }
  return last
}

/** A member's key as JSON.parse decodes it. */
export function keyOf(text: string, { keyStart, keyEnd }: Pick<Member, 'keyStart' | 'keyEnd'>): string {
  return JSON.parse(text.slice(keyStart, keyEnd)) as string
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= SPACE) at += 1
  return at
}

/**
 * Finds the end of a string. The end of a short string, or of a run of escapes, is near, and checking a few characters
 * here costs less than a native call. Most of a large body is long strings, for which the native `indexOf` is faster.
 */
function afterString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const near = at + NEAR_CHARS
    while (at < near) {
      const char = text.charCodeAt(at)
      if (char === QUOTE) return at + 1
      at += char === BACKSLASH ? 2 : 1
    }
    const quote = text.indexOf('"', at)
    if (!isEscaped(text, quote, at)) return quote + 1
    at = quote + 1
  }
}

/** Whether an odd number of backslashes is before a quote. `from` is known to be the start of a character. */
function isEscaped(text: string, quote: number, from: number): boolean {
  let at = quote - 1
  while (at >= from && text.charCodeAt(at) === BACKSLASH) at -= 1
  return (quote - at) % 2 === 0
}

/** The end of the value at `start`. Raises the depth of the walk that is at this value. */
function afterValue(text: string, start: number, walk: { depth: number }): number {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return afterString(text, start)
  if (first === BRACE_OPEN || first === BRACKET_OPEN) return afterContainer(text, start, walk)
  return afterScalar(text, start)
}

/** Counts depth instead of recursing, because a body may be nested deeper than the stack. */
function afterContainer(text: string, start: number, walk: { depth: number }): number {
  let depth = 1
  let at = start
  do {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = afterString(text, at)
      continue
    }
    at += 1
    // Digits, commas, colons and spaces have lower codes than brackets. They are most of the text between strings.
    if (char < BRACKET_OPEN) continue
    if (char === BRACE_OPEN || char === BRACKET_OPEN) {
      depth += 1
      if (depth > walk.depth) walk.depth = depth
    } else if (char === BRACE_CLOSE || char === BRACKET_CLOSE) depth -= 1
  } while (depth > 1)
  return at
}

function afterScalar(text: string, start: number): number {
  let at = start
  while (!endsScalar(text.charCodeAt(at))) at += 1
  return at
}

function endsScalar(char: number): boolean {
  return char === COMMA || char === BRACE_CLOSE || char === BRACKET_CLOSE || char <= SPACE
}

/** Replaces the characters from `start` up to, but not including, `end` with `text`. Equal offsets insert. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string }

const encoder = new TextEncoder()
const ASCII_END = 0x80

/** Applies edits, which are in ascending order and do not overlap. Returns the same text when there are none. */
export function spliceText(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text
  let result = ''
  let from = 0
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text
    from = edit.end
  }
  return result + text.slice(from)
}

/** Like `spliceText` for bytes, with offsets in bytes and one allocation. */
export function splice(bytes: Bytes, edits: readonly Edit[]): Bytes {
  if (edits.length === 0) return bytes
  let length = bytes.length
  for (const { start, end, text } of edits) length += encodedLength(text) - (end - start)
  const result = new Uint8Array(length)
  let from = 0
  let to = 0
  for (const { start, end, text } of edits) {
    result.set(bytes.subarray(from, start), to)
    to = write(text, result, to + start - from)
    from = end
  }
  result.set(bytes.subarray(from), to)
  return result
}

function encodedLength(text: string): number {
  return isAscii(text) ? text.length : encoder.encode(text).length
}

/** Returns where the text ends. Nearly every text is short ASCII, for which a loop costs less than the encoder. */
function write(text: string, into: Uint8Array, start: number): number {
  if (!isAscii(text)) return start + encoder.encodeInto(text, into.subarray(start)).written
  for (let at = 0; at < text.length; at += 1) into[start + at] = text.charCodeAt(at)
  return start + text.length
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= ASCII_END) return false
  return true
}

/** More names than any catalog has. */
const NAMES_MAX = 4096

const known = new Map<string, string>()

/** The JSON of a model's name from the catalog. It is cached, because every request and every reply needs one. */
export function quotedName(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= NAMES_MAX) known.clear()
  const quoted = JSON.stringify(name)
  known.set(name, quoted)
  return quoted
}

const decoder = new TextDecoder('latin1')

/**
 * A text with one character for each byte, so that offsets in the text are offsets in the bytes. It is for the
 * structure of JSON, which is all ASCII. Other characters come out wrong.
 */
export function byteText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
