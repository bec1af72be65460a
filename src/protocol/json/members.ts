const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
const SPACE = 0x20

/** Where one member of an object stands. Ends are exclusive. `keyOf` and `isNamed` read its key. */
export type Member = {
  /** At the key's opening quote, and after its closing one. */
  readonly keyStart: number
  readonly keyEnd: number
  /** The value's first byte and the byte after its last. */
  readonly start: number
  readonly end: number
}

/** How far the end of a string is looked for before the native search takes over. */
const NEAR_BYTES = 16

const decoder = new TextDecoder()

/**
 * The members of the object whose brace opens at `objectStart`, in order, duplicates included. The bytes must already have
 * been accepted by JSON.parse: nothing is checked here.
 */
export function members(bytes: Uint8Array, objectStart = bytes.indexOf(BRACE_OPEN)): Member[] {
  const found: Member[] = []
  let at = skipSpace(bytes, objectStart + 1)
  while (bytes[at] === QUOTE) {
    const keyStart = at
    const keyEnd = afterString(bytes, keyStart)
    // The next byte that is not a space is the colon.
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    const end = afterValue(bytes, start)
    found.push({ keyStart, keyEnd, start, end })
    at = skipSpace(bytes, end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return found
}

/** A member's key without its quotes and escapes, as JSON.parse would give it. */
export function keyOf(bytes: Uint8Array, { keyStart, keyEnd }: Member): string {
  return JSON.parse(decoder.decode(bytes.subarray(keyStart, keyEnd))) as string
}

/** Whether this is a member's key. `name` is plain ASCII. Looks at the bytes alone, unless the key has escapes. */
export function isNamed(bytes: Uint8Array, member: Member, name: string): boolean {
  const { keyStart, keyEnd } = member
  const first = keyStart + 1
  if (keyEnd - first - 1 === name.length) {
    let at = 0
    while (at < name.length && bytes[first + at] === name.charCodeAt(at)) at += 1
    if (at === name.length) return true
  }
  for (let at = first; at < keyEnd; at += 1) {
    if (bytes[at] === BACKSLASH) return keyOf(bytes, member) === name
  }
  return false
}

/** Of members of that name the last one, as JSON.parse takes it; undefined where there is none. */
export function lastNamed(bytes: Uint8Array, all: readonly Member[], name: string): Member | undefined {
  return all.findLast(member => isNamed(bytes, member, name))
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while ((bytes[at] as number) <= SPACE) at += 1
  return at
}

function afterValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  if (first === QUOTE) return afterString(bytes, start)
  if (first === BRACE_OPEN || first === BRACKET_OPEN) return afterContainer(bytes, start)
  return afterScalar(bytes, start)
}

/**
 * The end of a short string, and of a run of escapes, is near: looking at a few bytes here costs less than a native call.
 * Most of a large body is long strings, and their ends are left to the native `indexOf`.
 */
function afterString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  for (;;) {
    const near = at + NEAR_BYTES
    while (at < near) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      at += byte === BACKSLASH ? 2 : 1
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (!isEscaped(bytes, quote, at)) return quote + 1
    at = quote + 1
  }
}

/** A quote after an odd number of backslashes is part of its string. `from` is known to start a character. */
function isEscaped(bytes: Uint8Array, quote: number, from: number): boolean {
  let at = quote - 1
  while (at >= from && bytes[at] === BACKSLASH) at -= 1
  return (quote - at) % 2 === 0
}

/** Counts depth instead of recursing: a body may be nested deeper than the stack. */
function afterContainer(bytes: Uint8Array, start: number): number {
  let depth = 0
  let at = start
  do {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = afterString(bytes, at)
      continue
    }
    at += 1
    // Digits, commas, colons and spaces, nearly all that stands between strings, are below every bracket.
    if ((byte as number) < BRACKET_OPEN) continue
    if (byte === BRACE_OPEN || byte === BRACKET_OPEN) depth += 1
    else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) depth -= 1
  } while (depth > 0)
  return at
}

function afterScalar(bytes: Uint8Array, start: number): number {
  let at = start
  while (!endsScalar(bytes[at] as number)) at += 1
  return at
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === BRACE_CLOSE || byte === BRACKET_CLOSE || byte <= SPACE
}
