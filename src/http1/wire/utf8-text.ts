const REPLACED = '\uFFFD'
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of the bytes from `start` up to, not including, `end`, decoded where they stand, with its byte order mark; undefined
 * where they are no UTF-8. Only where something may have been replaced are they looked at again, strictly.
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
