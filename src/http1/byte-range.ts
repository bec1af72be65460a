import { utf8Text } from './wire/utf8-text.ts'

/**
 * A part of a buffer: from `start` up to, but not including, `end`. The runtime allocates more for a view of received
 * bytes than for decoding them, so a message that is decoded anyway is passed on as a range.
 */
export type ByteRange = { readonly bytes: Buffer; readonly start: number; readonly end: number }

/** The text of a range; undefined if it is not UTF-8. Keeps a byte order mark. */
export function textOf({ bytes, start, end }: ByteRange): string | undefined {
  return utf8Text(bytes, start, end)
}

/** A view of a range. */
export function viewOf({ bytes, start, end }: ByteRange): Buffer {
  return bytes.subarray(start, end)
}

export function wholeRange(bytes: Buffer): ByteRange {
  return { bytes, start: 0, end: bytes.length }
}
