import { walkInput, walkInputOf, type InputSink } from './input-parts.ts'
import type { JsonDocument } from './json/parse-json.ts'

const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/**
 * Estimates the tokens of a request's body: a quarter of a token for an ASCII character, one token for any other
 * character, a fixed number for each image or audio part, the most that the bytes of a file or a video can be, and one
 * token for each number, so that token arrays count exactly. `UNBOUNDED_INPUT` when a file or a video is only
 * referenced: the provider opens it, and its length is not known here.
 */
export function estimateInputTokens({ value, isAscii }: Pick<JsonDocument, 'value' | 'isAscii'>): number {
  const estimate = new Estimate(isAscii)
  walkInput(value, estimate)
  return estimate.total()
}

/**
 * Like `estimateInputTokens`, for a value that is all input. `isAscii` says that all of its texts are known to be
 * ASCII.
 */
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
    // Checking each character of a long English text would cost more than parsing it.
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

/**
 * A character outside the basic plane is two UTF-16 units and counts once. A lone surrogate counts as one character.
 */
function isSecondHalf(text: string, at: number, unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}
