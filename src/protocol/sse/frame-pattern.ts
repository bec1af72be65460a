import { splice, type Edit } from '../json/splice.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Where a JSON string stands in a frame, its quotes not counted. */
export type StringSpan = { readonly start: number; readonly end: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

// What is no UTF-8 fits no pattern, and a byte order mark in the middle of a stream stays where it is.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A frame that was parsed, as a pattern for those that follow: the same bytes but for one text and, behind it, a padding
 * that nobody reads. Most frames of a stream differ in nothing else, and comparing them costs far less than parsing them.
 */
export class FramePattern {
  /** What stands before the text, behind it and, where there is a padding, behind that. */
  readonly #head: string
  readonly #middle: string
  readonly #last: string | undefined
  readonly #edits: EndEdits | undefined

  constructor(
    parts: { head: string; middle: string; last: string | undefined },
    edits: EndEdits | undefined,
  ) {
    this.#head = parts.head
    this.#middle = parts.middle
    this.#last = parts.last
    this.#edits = edits
  }

  /** The text of a frame of this pattern, as a parser would give it; undefined for every other frame. */
  textOf(frame: Bytes): string | undefined {
    const all = findText(frame)
    if (all === undefined || !all.startsWith(this.#head)) return undefined
    const start = this.#head.length
    const end = stringEnd(all, start)
    if (!all.startsWith(this.#middle, end)) return undefined
    const behind = end + this.#middle.length
    if (this.#last === undefined ? behind !== all.length : !isPadded(all, behind, this.#last))
      return undefined
    const text = all.slice(start, end)
    return text.includes('\\') ? unescaped(text) : text
  }

  /** A frame of this pattern with its edits: the very same where there are none. */
  edited(frame: Bytes): Bytes {
    if (this.#edits === undefined) return frame
    const { headLength, newHead, lastLength, newLast } = this.#edits
    const newLastAt = frame.length + newHead.length - headLength - lastLength
    const edited = new Uint8Array(newLastAt + newLast.length)
    edited.set(newHead)
    edited.set(frame.subarray(headLength, frame.length - lastLength), newHead.length)
    edited.set(newLast, newLastAt)
    return edited
  }
}

/** The bytes at the start and at the end of every frame that are replaced, and by what. */
type EndEdits = {
  readonly headLength: number
  readonly newHead: Bytes
  readonly lastLength: number
  readonly newLast: Bytes
}

/**
 * The pattern of a frame with its text and padding where they are said to be. `edits` are what clients are to see changed in
 * each frame of it; none is made to the text, to the padding, or between the two. Undefined for a frame that is no UTF-8.
 */
export function framePattern(
  frame: Bytes,
  { text, padding }: { readonly text: StringSpan; readonly padding: StringSpan | undefined },
  edits: readonly Edit[],
): FramePattern | undefined {
  const head = findText(frame.subarray(0, text.start))
  const middle = findText(frame.subarray(text.end, padding?.start))
  const last = padding && findText(frame.subarray(padding.end))
  if (head === undefined || middle === undefined || (padding !== undefined && last === undefined))
    return undefined
  const lastStart = (padding ?? text).end
  return new FramePattern(
    { head, middle, last },
    edits.length > 0 ? endEdits(frame, text.start, lastStart, edits) : undefined,
  )
}

function endEdits(frame: Bytes, headLength: number, lastStart: number, edits: readonly Edit[]): EndEdits {
  const inHead = edits.filter(({ end }) => end <= headLength)
  const inLast = edits
    .filter(({ start }) => start >= lastStart)
    .map(({ start, end, text }) => ({ start: start - lastStart, end: end - lastStart, text }))
  return {
    headLength,
    newHead: splice(frame.slice(0, headLength), inHead),
    lastLength: frame.length - lastStart,
    newLast: splice(frame.slice(lastStart), inLast),
  }
}

function findText(bytes: Bytes): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Where the JSON string that begins at `from` has its closing quote; the end of `all` where it has none. */
function stringEnd(all: string, from: number): number {
  for (let at = from; at < all.length; at += 1) {
    const unit = all.charCodeAt(at)
    if (unit === QUOTE) return at
    if (unit === BACKSLASH) at += 1
    else if (unit < SPACE) break
  }
  return all.length
}

/** Whether nothing but a string without escapes stands between `from` and `last`, which ends it all. */
function isPadded(all: string, from: number, last: string): boolean {
  const end = stringEnd(all, from)
  return end + last.length === all.length && all.endsWith(last) && !all.slice(from, end).includes('\\')
}

/** Undefined where an escape is none. */
function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}
