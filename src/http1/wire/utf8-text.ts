const REPLACED = '\uFFFD'
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes the bytes from `start` up to, but not including, `end`. Keeps a byte order mark. Undefined if they are not
 * UTF-8. The strict decoder is slower, so it is used only for a text with a replacement character.
 */
export function utf8Text(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes(REPLACED)) return text
  try {
    return strictDecoder.decode(bytes.subarray(start, end))
  } catch {
    return undefined
  }
}
