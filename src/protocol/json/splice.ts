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
export function splice(bytes: Uint8Array<ArrayBuffer>, edits: readonly Edit[]): Uint8Array<ArrayBuffer> {
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
