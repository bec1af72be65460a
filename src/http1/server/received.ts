import { readRequestHead, type RequestHead } from '../wire/request-head.ts'
import type { RequestBody } from './request-body.ts'
import { NO_BODY, type WholeBody } from './whole-body.ts'

/** A head is larger only where somebody means harm. */
const HEAD_BYTES_MAX = 32 * 1024

const HEAD_END = '\r\n\r\n'
const LF = 10
const CR = 13

/** What came on a connection and was not taken yet: the next request, or the beginning of it. */
export class Received {
  #bytes: Buffer | undefined
  /** Where what was not taken begins. */
  #at = 0
  /** How many bytes the last try to read a head had. */
  #tried = 0

  get length(): number {
    return this.#bytes === undefined ? 0 : this.#bytes.length - this.#at
  }

  push(bytes: Buffer): void {
    if (this.#bytes === undefined) this.#bytes = bytes
    else {
      this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), bytes])
      this.#at = 0
    }
  }

  clear(): void {
    this.#bytes = undefined
    this.#at = 0
    this.#tried = 0
  }

  /** Takes the next head; undefined where its end has not come. After a problem nothing more can be told apart. */
  takeHead(): RequestHead | 'malformed' | 'too_large' | undefined {
    const bytes = this.#bytes
    if (bytes === undefined || !this.#isWorthReading(bytes)) return undefined
    // An empty line before a request is what some clients end the last body with; half of it may be all there is.
    if (bytes[this.#at] === CR && this.length === 1) return undefined
    if (bytes[this.#at] === CR && bytes[this.#at + 1] === LF) this.#at += 2
    const head = readRequestHead(bytes, this.#at)
    if (head === 'malformed') return head
    const length = (typeof head === 'string' ? bytes.length : head.fields.end) - this.#at
    if (head === 'too_many' || length > HEAD_BYTES_MAX) return 'too_large'
    if (head === 'partial') {
      this.#tried = bytes.length - this.#at
      return undefined
    }
    this.#moveTo(head.fields.end)
    return head
  }

  /** Takes a whole body; undefined, and nothing is taken, where not all of it has come. */
  takeBody(length: number): WholeBody | undefined {
    if (length === 0) return NO_BODY
    const bytes = this.#bytes
    const start = this.#at
    if (bytes === undefined || bytes.length - start < length) return undefined
    this.#moveTo(start + length)
    return { bytes, start, end: start + length }
  }

  /** Gives a body what of it has come. */
  feed(body: RequestBody): void {
    if (this.#bytes !== undefined) this.#moveTo(body.feed(this.#bytes, this.#at))
  }

  /** A head that drips is not read again for every drop: only when it has its end, or is twice as long. */
  #isWorthReading(bytes: Buffer): boolean {
    const tried = this.#tried
    if (tried === 0 || this.length >= 2 * tried) return true
    return bytes.includes(HEAD_END, this.#at + Math.max(0, tried - HEAD_END.length + 1))
  }

  #moveTo(at: number): void {
    if (at === this.#bytes?.length) return this.clear()
    this.#at = at
    this.#tried = 0
  }
}
