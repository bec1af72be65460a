import { splice, type Edit } from '../json/splice.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Where a JSON string stands in a frame, its quotes not counted. */
export type StringSpan = { readonly start: number; readonly end: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

const ASCII_END = 0x80

// What is no UTF-8 is left to those who read whole frames, and a byte order mark in a text is a part of it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A frame that was parsed, as a pattern for those that follow: the same bytes but for one text and, behind it, a padding
 * that nobody reads. Most frames of a stream differ in nothing else, and comparing them costs far less than parsing them.
 */
export class FramePattern {
  /** Where the text of the frame that was matched last stands; it has no escapes and is ASCII where it `isPlain`. */
  textStart = 0
  textEnd = 0
  isPlain = true
  /** What stands before the text, behind it and, where there is a padding, behind that. */
  readonly #head: Bytes
  readonly #middle: Bytes
  readonly #last: Bytes | undefined
  readonly #edits: EndEdits | undefined

  /**
   * The pattern of a frame with its text and padding where they are said to be. `edits` are what clients are to see changed in
   * each frame of it; none is made to the text, to the padding, or between the two.
   */
  constructor(
    frame: Bytes,
    { text, padding }: { readonly text: StringSpan; readonly padding: StringSpan | undefined },
    edits: readonly Edit[],
  ) {
    this.textStart = text.start
    this.#head = frame.slice(0, text.start)
    this.#middle = frame.slice(text.end, padding?.start)
    this.#last = padding && frame.slice(padding.end)
    if (edits.length > 0) this.#edits = endEdits(frame, text.start, (padding ?? text).end, edits)
  }

  /** Whether a frame is of this pattern. What escapes its text has is for `text` to see. */
  matches(frame: Bytes): boolean {
    const last = this.#last
    if (!matchesAt(frame, 0, this.#head) || !this.#findText(frame)) return false
    const behind = this.textEnd + this.#middle.length
    if (!matchesAt(frame, this.textEnd, this.#middle)) return false
    if (last === undefined) return behind === frame.length
    const lastAt = frame.length - last.length
    return lastAt >= behind && isPlainText(frame, behind, lastAt) && matchesAt(frame, lastAt, last)
  }

  /** The text of the frame that was matched last, as a parser would give it; undefined where it would give none. */
  text(frame: Bytes): string | undefined {
    try {
      return JSON.parse(decoder.decode(frame.subarray(this.textStart - 1, this.textEnd + 1))) as string
    } catch {
      return undefined
    }
  }

  /** A frame of this pattern with its edits: the very same where there are none. */
  edited(frame: Bytes): Bytes {
    if (this.#edits === undefined) return frame
    const { headLength, newHead, lastLength, newLast } = this.#edits
    const offset = newHead.length - headLength
    const lastAt = frame.length - lastLength
    const edited = new Uint8Array(lastAt + offset + newLast.length)
    // All of it, where it fits: a view of the part that is needed would cost several times as much.
    if (offset >= 0 && lastLength === 0) edited.set(frame, offset)
    else for (let at = headLength; at < lastAt; at += 1) edited[at + offset] = frame[at] as number
    edited.set(newHead)
    if (newLast.length > 0) edited.set(newLast, lastAt + offset)
    return edited
  }

  /** False where it has no end, or what no text may have. */
  #findText(frame: Bytes): boolean {
    let isPlain = true
    for (let at = this.textStart; at < frame.length; at += 1) {
      const byte = frame[at] as number
      if (byte === QUOTE) {
        this.textEnd = at
        this.isPlain = isPlain
        return true
      }
      if (byte < SPACE) return false
      if (byte === BACKSLASH) at += 1
      if (byte === BACKSLASH || byte >= ASCII_END) isPlain = false
    }
    return false
  }
}

/** The bytes at the start and at the end of every frame that are replaced, and by what. */
type EndEdits = {
  readonly headLength: number
  readonly newHead: Bytes
  readonly lastLength: number
  readonly newLast: Bytes
}

function endEdits(frame: Bytes, headLength: number, lastStart: number, edits: readonly Edit[]): EndEdits {
  const inHead = edits.filter(({ end }) => end <= headLength)
  const inLast = edits
    .filter(({ start }) => start >= lastStart)
    .map(({ start, end, text }) => ({ start: start - lastStart, end: end - lastStart, text }))
  const last = inLast.length > 0 ? frame.slice(lastStart) : new Uint8Array()
  return {
    headLength,
    newHead: splice(frame.slice(0, headLength), inHead),
    lastLength: last.length,
    newLast: splice(last, inLast),
  }
}

function matchesAt(frame: Bytes, start: number, part: Bytes): boolean {
  const { length } = part
  if (start + length > frame.length) return false
  for (let at = 0; at < length; at += 1) if (frame[start + at] !== part[at]) return false
  return true
}

/** Whether a JSON string may have these bytes between its quotes, and means them as they are. */
function isPlainText(frame: Bytes, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = frame[at] as number
    if (byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END) return false
  }
  return true
}
