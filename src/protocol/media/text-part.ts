import { plainText } from './string-syntax.ts'

/** A text part of a form, while it arrives. The caller limits its length. */
export class TextPart {
  readonly name: string
  readonly #pieces: Uint8Array[] = []
  #length = 0

  constructor(name: string) {
    this.name = name
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.#pieces.push(bytes.slice(start, end))
    this.#length += end - start
  }

  /** The whole text. Throws `malformed_request` if it is not UTF-8. */
  text(): string {
    const whole = new Uint8Array(this.#length)
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return plainText().textOf(whole)
  }
}
