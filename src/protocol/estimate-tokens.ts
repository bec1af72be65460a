import { walkInput, walkInputOf, type InputSink } from './input-parts.ts'
import type { JsonDocument } from './json/parse-json.ts'

const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/**
 * How many tokens a request's body comes to: a quarter of a token for an ASCII character, one for any other, a flat number
 * for each image or audio part, what the bytes of a file or a video can come to, and one for each number, so that token arrays
 * count exactly. `UNBOUNDED_INPUT` where a file or a video is only named: the provider opens it, and nobody here knows its length.
 */
export function estimateInputTokens({ value, isAscii }: Pick<JsonDocument, 'value' | 'isAscii'>): number {
  const estimate = new Estimate(isAscii)
  walkInput(value, estimate)
  return estimate.total()
}

/** The same for a part of a body that is input and nothing else. `isAscii` is true where all of its texts are known to be. */
export function estimateTokensOf(input: unknown, isAscii: boolean): number {
  const estimate = new Estimate(isAscii)
  walkInputOf(input, estimate)
  return estimate.total()
}

class Estimate implements InputSink {
  readonly #isAscii: boolean
  #asciiChars = 0
  #others = 0
  #tokens = 0

  constructor(isAscii: boolean) {
    this.#isAscii = isAscii
  }

  text(text: string): void {
    this.#asciiChars += text.length
    // Looking at each character of a long English text would cost more than parsing it did.
    if (!this.#isAscii) this.#countOthers(text)
  }

  tokens(count: number): void {
    this.#tokens += count
  }

  media(_tokens: number, most: number): void {
    this.#tokens += most
  }

  total(): number {
    return Math.ceil(this.#asciiChars / ASCII_CHARS_PER_TOKEN) + this.#others + this.#tokens
  }

  #countOthers(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit < ASCII_END) continue
      this.#asciiChars -= 1
      if (!isSecondHalf(text, at, unit)) this.#others += 1
    }
  }
}

/** A character outside the basic plane is two units; it counts once. A lone half counts as one. */
function isSecondHalf(text: string, at: number, unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}
