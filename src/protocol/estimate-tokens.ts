import { inputParts, type InputParts } from './input-parts.ts'
import type { JsonDocument } from './json/parse-json.ts'

const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/**
 * How many tokens a request's body comes to: a quarter of a token for an ASCII character, one for any other, a flat number
 * for each image, audio, video or file part, and one for each number, so that token arrays count exactly.
 */
export function estimateInputTokens({ value, isAscii }: JsonDocument): number {
  return estimateTokensOf(inputParts(value), isAscii)
}

/** The same for one part of a body. `isAscii` is true where all of its texts are known to be. */
export function estimateTokensOf({ texts, tokens }: InputParts, isAscii: boolean): number {
  let units = 0
  let others = 0
  let otherUnits = 0
  for (const text of texts) {
    units += text.length
    // Looking at each character of a long English text would cost more than parsing it did.
    if (isAscii) continue
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit < ASCII_END) continue
      otherUnits += 1
      if (!isSecondHalf(text, at, unit)) others += 1
    }
  }
  return Math.ceil((units - otherUnits) / ASCII_CHARS_PER_TOKEN) + others + tokens
}

/** A character outside the basic plane is two units; it counts once. A lone half counts as one. */
function isSecondHalf(text: string, at: number, unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}
