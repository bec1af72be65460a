import { ChunkedBody } from '../wire/chunked-body.ts'
import { idleTimeMs } from './keep-alive.ts'
import { readResponseHead, type ResponseHead } from './response-head.ts'

/** Where a response goes while it is read. */
export type ResponseSink = {
  onHead(head: ResponseHead): void
  /**
   * The next bytes of the body, at least one: those of `bytes` from `start` to before `end`. The sink may keep them.
   */
  onPiece(bytes: Buffer<ArrayBuffer>, start: number, end: number): void
}

/** The state after the bytes so far. `surplus`: the response is whole, and more bytes follow it. */
export type Progress = 'more' | 'whole' | 'surplus' | 'malformed_head' | 'malformed_body'

const HEAD_BYTES_MAX = 64 * 1024
const SWITCHING_PROTOCOLS = 101

/** Reads one response from the bytes of a connection, in pieces of any size. Each response needs a new reader. */
export class ResponseReader {
  readonly #method: string
  /** The bytes of a head that has not come whole. */
  #partialHead: Buffer<ArrayBuffer> | undefined
  #head: ResponseHead | undefined
  #missing = 0
  #chunks: ChunkedBody | undefined

  /** The method is that of the request. */
  constructor(method: string) {
    this.#method = method
  }

  /** Takes the next bytes, and may change and keep them. Must not be called again after anything but `more`. */
  feed(received: Buffer<ArrayBuffer>, sink: ResponseSink): Progress {
    let bytes = received
    let at = 0
    while (this.#head === undefined) {
      if (this.#partialHead !== undefined) bytes = Buffer.concat([this.#partialHead, bytes])
      this.#partialHead = undefined
      const head = readResponseHead(bytes, at, this.#method)
      if (head === 'malformed' || head === 'too_many') return 'malformed_head'
      if ((head === 'partial' ? bytes.length : head.fields.end) - at > HEAD_BYTES_MAX) return 'malformed_head'
      if (head === 'partial') {
        this.#partialHead = bytes.subarray(at)
        return 'more'
      }
      // The client never asks for another protocol. It ignores the other interim responses.
      if (head.status === SWITCHING_PROTOCOLS) return 'malformed_head'
      at = head.fields.end
      if (head.status >= 200) this.#begin(head, sink)
    }
    if (this.#chunks !== undefined) return this.#feedChunks(this.#chunks, bytes, at, sink)
    const end = Math.min(bytes.length, at + this.#missing)
    if (end > at) sink.onPiece(bytes, at, end)
    this.#missing -= end - at
    if (this.#missing > 0) return 'more'
    return end < bytes.length ? 'surplus' : 'whole'
  }

  /** Whether the end of the connection ends this response. */
  get endsWithConnection(): boolean {
    return this.#head?.framing === 'until_close'
  }

  /** Whether the connection can carry another request after this response. */
  get isReusable(): boolean {
    return this.#head?.isReusable === true
  }

  /** How long the connection may be idle after this response. */
  get idleMs(): number {
    return idleTimeMs(this.#head?.fields.get('keep-alive') ?? null)
  }

  #begin(head: ResponseHead, sink: ResponseSink): void {
    this.#head = head
    if (head.framing === 'chunked') this.#chunks = new ChunkedBody()
    else if (head.framing === 'until_close') this.#missing = Infinity
    else this.#missing = head.framing
    sink.onHead(head)
  }

  #feedChunks(chunks: ChunkedBody, bytes: Buffer<ArrayBuffer>, start: number, sink: ResponseSink): Progress {
    const end = chunks.feed(bytes, start)
    if (chunks.contentEnd > chunks.contentStart) sink.onPiece(bytes, chunks.contentStart, chunks.contentEnd)
    if (chunks.state === 'malformed') return 'malformed_body'
    if (chunks.state !== 'complete') return 'more'
    return end < bytes.length ? 'surplus' : 'whole'
  }
}
