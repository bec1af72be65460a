const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/** Estimates tokens without a vocabulary: a quarter of a token for an ASCII character, one token for any other. */
export function roughCount(texts: readonly string[]): number {
  let ascii = 0
  let others = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; at += 1) {
      if (text.charCodeAt(at) < ASCII_END) ascii += 1
      else others += 1
    }
  }
  return Math.ceil(ascii / ASCII_CHARS_PER_TOKEN) + others
}
