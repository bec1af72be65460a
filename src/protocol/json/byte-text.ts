const decoder = new TextDecoder('latin1')

/**
 * Bytes as a text of one character for each, so that a place in the text is that place in the bytes: for looking at the structure
 * of JSON, all of which is ASCII. What is not ASCII in it is not as it was meant.
 */
export function byteText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
