import { splice, type Edit } from '../json/json-text.ts'
import type { Bytes } from '../../domain/bytes.ts'

/** The place of a JSON string in a frame, without its quotes. */
export type StringSpan = { readonly start: number; readonly end: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

const ASCII_END = 0x80

// A frame with invalid UTF-8 does not match and is read as a whole. A byte order mark inside a text is a part of the
// text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A parsed frame as a pattern for the frames that follow: the same bytes except for one text and, after it, an unused
 * padding. Most frames of a stream differ in nothing else, and comparing them costs far less than parsing them.
 */
export class FramePattern {
  /** The text of the frame that was matched last. `isPlain` means ASCII without escapes. */
  textStart = 0
  textEnd = 0
  isPlain = true
  /** The bytes before the text, after it and, if there is a padding, after the padding. */
  readonly #head: Bytes
  readonly #middle: Bytes
  readonly #last: Bytes | undefined
  readonly #edits: EndEdits | undefined

  /**
   * The pattern of a frame with this text and padding. `edits` are made in each matching frame before a client sees it.
   * None of them is in the text, in the padding, or between the two.
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

  /** Whether a frame matches this pattern. Does not check the escapes in its text; `text` does. */
  matches(frame: Bytes): boolean {
    const last = this.#last
    if (!matchesAt(frame, 0, this.#head) || !this.#findText(frame)) return false
    const behind = this.textEnd + this.#middle.length
    if (!matchesAt(frame, this.textEnd, this.#middle)) return false
    if (last === undefined) return behind === frame.length
    const lastAt = frame.length - last.length
    return lastAt >= behind && isPlainText(frame, behind, lastAt) && matchesAt(frame, lastAt, last)
  }

  /** The decoded text of the frame that was matched last; undefined when a parser would reject it. */
  text(frame: Bytes): string | undefined {
    try {
      return JSON.parse(decoder.decode(frame.subarray(this.textStart - 1, this.textEnd + 1))) as string
    } catch {
      return undefined
    }
  }

  /** A matching frame with the edits made; the same frame when there are none. */
  edited(frame: Bytes): Bytes {
    if (this.#edits === undefined) return frame
    const { headLength, newHead, lastLength, newLast } = this.#edits
    const offset = newHead.length - headLength
    const lastAt = frame.length - lastLength
    const edited = new Uint8Array(lastAt + offset + newLast.length)
    // Copies the whole frame if it fits: a view of the needed part would cost several times as much.
    if (offset >= 0 && lastLength === 0) edited.set(frame, offset)
    else for (let at = headLength; at < lastAt; at += 1) edited[at + offset] = frame[at] as number
    edited.set(newHead)
    if (newLast.length > 0) edited.set(newLast, lastAt + offset)
    return edited
  }

  /** Finds the end of the text. False when there is none, or when the text has a character that JSON does not allow. */
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

/** The bytes that are replaced at the start and at the end of every frame, and their replacements. */
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

/** Whether these bytes are the characters of a JSON string in ASCII without escapes. */
function isPlainText(frame: Bytes, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = frame[at] as number
    if (byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END) return false
  }
  return true
}
