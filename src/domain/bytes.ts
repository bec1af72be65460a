/** Bytes in memory of their own, which no other thread shares. */
export type Bytes = Uint8Array<ArrayBuffer>

const NOTHING: Bytes = new Uint8Array(0)

/** Joins byte arrays. Does not copy parts that are already adjacent in one buffer. */
export function joinBytes(parts: readonly Bytes[]): Bytes {
  const first = parts[0]
  if (first === undefined) return NOTHING
  if (parts.length === 1) return first
  let length = first.length
  let areAdjacent = true
  for (let index = 1; index < parts.length; index += 1) {
    const part = parts[index] as Bytes
    if (part.buffer !== first.buffer || part.byteOffset !== first.byteOffset + length) areAdjacent = false
    length += part.length
  }
  if (areAdjacent) return new Uint8Array(first.buffer, first.byteOffset, length)
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
