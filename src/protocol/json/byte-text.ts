const decoder = new TextDecoder('latin1')

/**
 * A text with one character for each byte, so that offsets in the text are offsets in the bytes. It is for the
 * structure of JSON, which is all ASCII. Other characters come out wrong.
 */
export function byteText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
