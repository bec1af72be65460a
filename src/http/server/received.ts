import { parseRequestHead, type RequestHead } from '../../http1/request-head.ts'
import type { RequestBody } from './request-body.ts'

/** A head is larger only where somebody means harm. */
const HEAD_BYTES_MAX = 32 * 1024

const HEAD_END = '\r\n\r\n'
const LF = 10
const CR = 13
const SPACE = 32
const NOTHING = new Uint8Array()

export type HeadProblem = 'malformed' | 'too_large'

/** What came on a connection and was not taken yet: the next request, or the beginning of it. */
export class Received {
  #bytes: Buffer | undefined
  /** Where what was not taken begins. */
  #at = 0
  /** Where the search for the end of a head goes on. */
  #searched = 0

  get length(): number {
    return this.#bytes === undefined ? 0 : this.#bytes.length - this.#at
  }

  push(bytes: Buffer): void {
    if (this.#bytes === undefined) this.#bytes = bytes
    else {
      this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), bytes])
      this.#searched -= this.#at
      this.#at = 0
    }
  }

  clear(): void {
    this.#bytes = undefined
    this.#at = 0
    this.#searched = 0
  }

  /** Takes the next head; undefined where its end has not come. After a problem nothing more can be told apart. */
  takeHead(): RequestHead | HeadProblem | undefined {
    const bytes = this.#bytes
    if (bytes === undefined) return undefined
    // An empty line before a request is what some clients end the last body with.
    if (bytes[this.#at] === CR && bytes[this.#at + 1] === LF) this.#at += 2
    const at = this.#at
    const end = bytes.indexOf(HEAD_END, Math.max(at, this.#searched))
    if ((end < 0 ? bytes.length : end) - at > HEAD_BYTES_MAX) return 'too_large'
    if (end < 0) {
      if (!beginsLikeRequest(bytes, at, this.#searched)) return 'malformed'
      this.#searched = Math.max(at, bytes.length - HEAD_END.length + 1)
      return undefined
    }
    this.#moveTo(end + HEAD_END.length)
    const head = parseRequestHead(bytes.toString('latin1', at, end))
    return head === 'too_many' ? 'too_large' : head
  }

  /** Takes a whole body; undefined, and nothing is taken, where not all of it has come. */
  takeBytes(length: number): Uint8Array<ArrayBuffer> | undefined {
    if (length === 0) return NOTHING
    const bytes = this.#bytes
    const at = this.#at
    if (bytes === undefined || bytes.length - at < length) return undefined
    this.#moveTo(at + length)
    return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, length)
  }

  /** Gives a body what of it has come. */
  feed(body: RequestBody): void {
    if (this.#bytes !== undefined) this.#moveTo(body.feed(this.#bytes, this.#at))
  }

  #moveTo(at: number): void {
    if (at === this.#bytes?.length) return this.clear()
    this.#at = at
    this.#searched = at
  }
}

/** Said before its end, which may never come: by its first word, and by a line that ends as none may. */
function beginsLikeRequest(bytes: Buffer, at: number, searched: number): boolean {
  for (let index = at; index < bytes.length && bytes[index] !== SPACE; index += 1) {
    // The longest method has fewer letters.
    const char = bytes[index] ?? 0
    if (char < SPACE || char > 126 || index - at > 32) return char === CR && index === at
  }
  for (let end = bytes.indexOf(LF, searched); end >= 0; end = bytes.indexOf(LF, end + 1)) {
    if (end === 0 || bytes[end - 1] !== CR) return false
  }
  return true
}
