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

/** The nesting depth of an object, including itself. */
export function depthOf(text: string): number {
  const walk = new MemberWalk(text)
  while (walk.next());
  return walk.depth
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
