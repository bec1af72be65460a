import type { ByteRange } from '../byte-range.ts'
import { readRequestHead, type RequestHead } from '../wire/request-head.ts'
import { HttpError } from './http-error.ts'
import { HEAD_BYTES_MAX, READ_AHEAD_BYTES, WHOLE_BODY_BYTES_MAX } from './limits.ts'
import { RequestBody, type BodyConnection } from './request-body.ts'

const HEAD_END = '\r\n\r\n'
const LF = 10
const CR = 13
const NO_BYTES: Buffer = Buffer.alloc(0)

export type PausableSocket = { pause(): unknown; resume(): unknown }

/** Reads the heads and bodies of requests from the bytes that a connection receives. */
export class RequestReader {
  readonly #socket: PausableSocket
  readonly #connection: BodyConnection
  #isPaused = false
  /** Received bytes that do not belong to `body`. */
  #bytes: Buffer = NO_BYTES
  /** The position of the first unread one. */
  #at = 0
  /** How many bytes the last unsuccessful attempt to read a head had. */
  #triedBytes = 0
  /** One empty line before a head is accepted. */
  #isEmptyLineSkipped = false
  /** The body of the last request, until all of it has arrived. New bytes belong to it. */
  body: RequestBody | undefined

  constructor(socket: PausableSocket, connection: BodyConnection) {
    this.#socket = socket
    this.#connection = connection
  }

  /** Whether nothing has arrived that was not read. */
  get isEmpty(): boolean {
    return this.body === undefined && this.#length === 0
  }

  /** Takes received bytes: the rest of the body, then the next requests. */
  receive(bytes: Buffer): void {
    const { body } = this
    if (body === undefined) return this.#push(bytes)
    const end = body.feed(bytes, 0)
    // After a malformed chunk it is unknown where the next request begins.
    if (body.isArriving || body.isMalformed) return
    this.body = undefined
    if (end < bytes.length) this.#push(bytes.subarray(end))
  }

  /** Pauses the socket when much has arrived that was not read. */
  pauseWhenAhead(): void {
    if (this.#isPaused || this.#length + (this.body?.unreadBytes ?? 0) <= READ_AHEAD_BYTES) return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Drops everything that was not read. */
  clear(): void {
    this.body = undefined
    this.#moveTo(this.#bytes.length)
  }

  /**
   * Reads the next head; undefined when it is incomplete. After an error, nothing more can be read from the connection.
   */
  readHead(): RequestHead | HttpError | undefined {
    const bytes = this.#bytes
    if (!this.#isWorthReading()) return undefined
    // Some clients send an empty line after a body. It may have arrived only in part.
    if (bytes[this.#at] === CR && this.#length === 1) return undefined
    if (!this.#isEmptyLineSkipped && bytes[this.#at] === CR && bytes[this.#at + 1] === LF) {
      this.#isEmptyLineSkipped = true
      this.#at += 2
    }
    const head = readRequestHead(bytes, this.#at)
    if (head === 'malformed')
      return new HttpError('malformed_request', 'Malformed or ambiguous HTTP request.')
    const length = (typeof head === 'string' ? bytes.length : head.fields.end) - this.#at
    if (head === 'too_many' || length > HEAD_BYTES_MAX)
      return new HttpError('headers_too_large', 'The request headers are too large.')
    if (head === 'partial') {
      this.#triedBytes = this.#length
      return undefined
    }
    this.#isEmptyLineSkipped = false
    this.#moveTo(head.fields.end)
    return head
  }

  /**
   * Reads the body that follows a head: a range if it is small and has arrived. If it is incomplete, the bytes that
   * arrive next go to it.
   */
  readBody(framing: RequestHead['framing']): ByteRange | RequestBody {
    if (framing !== 'chunked' && framing <= Math.min(this.#length, WHOLE_BODY_BYTES_MAX)) {
      const range = { bytes: this.#bytes, start: this.#at, end: this.#at + framing }
      this.#moveTo(range.end)
      return range
    }
    const body = new RequestBody(framing, this.#connection)
    this.#moveTo(body.feed(this.#bytes, this.#at))
    if (body.isArriving || body.isMalformed) this.body = body
    return body
  }

  get #length(): number {
    return this.#bytes.length - this.#at
  }

  #push(bytes: Buffer): void {
    this.#bytes = this.#length === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes])
    this.#at = 0
  }

  /** Whether another attempt can succeed: a head that arrives byte by byte is not parsed again for each of them. */
  #isWorthReading(): boolean {
    const tried = this.#triedBytes
    if (tried === 0 || this.#length >= 2 * tried) return this.#length > 0
    return this.#bytes.includes(HEAD_END, this.#at + Math.max(0, tried - HEAD_END.length + 1))
  }

  #moveTo(at: number): void {
    const isEnd = at === this.#bytes.length
    // Keeps no reference to bytes that have been read.
    if (isEnd) this.#bytes = NO_BYTES
    this.#at = isEnd ? 0 : at
    this.#triedBytes = 0
  }
}
