/** Puts `text` in the place of the bytes from `start` up to, not including, `end`; equal ones insert. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string }

const encoder = new TextEncoder()

/**
 * The bytes with the edits applied, in one allocation; the very same bytes when there are none. Edits are in ascending
 * order and do not overlap.
 */
export function splice(bytes: Uint8Array<ArrayBuffer>, edits: readonly Edit[]): Uint8Array<ArrayBuffer> {
  if (edits.length === 0) return bytes
  const texts: Uint8Array[] = []
  let length = bytes.length
  for (const { start, end, text } of edits) {
    const encoded = encoder.encode(text)
    texts.push(encoded)
    length += encoded.length - (end - start)
  }
  const result = new Uint8Array(length)
  let from = 0
  let to = 0
  for (let index = 0; index < edits.length; index += 1) {
    const { start, end } = edits[index] as Edit
    const text = texts[index] as Uint8Array
    result.set(bytes.subarray(from, start), to)
    to += start - from
    result.set(text, to)
    to += text.length
    from = end
  }
  result.set(bytes.subarray(from), to)
  return result
}
