import { ChunkedBody } from '../wire/chunked-body.ts'
import { readResponseHead, type ResponseHead } from './response-head.ts'

/** Where a response goes as it is read. */
export type ResponseSink = {
  onHead(head: ResponseHead): void
  /** The next bytes of the body, never none: those of `bytes` from `start` up to, not including, `end`. They are the sink's to keep. */
  onPiece(bytes: Buffer, start: number, end: number): void
}

/** What the bytes so far amount to. `surplus`: the response is whole, and more came behind it. */
export type Progress = 'more' | 'whole' | 'surplus' | 'malformed_head' | 'malformed_body'

const HEAD_BYTES_MAX = 64 * 1024

/** Reads one response from the bytes of a connection, however they are cut. Make another for the next response. */
export class ResponseReader {
  /** The beginning of a head whose end has not come. */
  #partialHead: Buffer | undefined
  #head: ResponseHead | undefined
  #missing = 0
  #chunks: ChunkedBody | undefined

  /** Takes the next bytes, which it may change and keep. After anything but `more` it is not to be fed again. */
  feed(received: Buffer, sink: ResponseSink): Progress {
    let bytes = received
    let at = 0
    while (this.#head === undefined) {
      if (this.#partialHead !== undefined) bytes = Buffer.concat([this.#partialHead, bytes])
      this.#partialHead = undefined
      const head = readResponseHead(bytes, at)
      if (head === 'malformed' || head === 'too_many') return 'malformed_head'
      if ((head === 'partial' ? bytes.length : head.fields.end) - at > HEAD_BYTES_MAX) return 'malformed_head'
      if (head === 'partial') {
        this.#partialHead = bytes.subarray(at)
        return 'more'
      }
      // Nobody asked to switch protocols; the other interim answers say nothing that matters here.
      if (head.status === 101) return 'malformed_head'
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

  /** Whether the end of the connection is how this response was to end. */
  get endsWithConnection(): boolean {
    return this.#head?.framing === 'until_close'
  }

  get isKept(): boolean {
    return this.#head?.isKept === true
  }

  #begin(head: ResponseHead, sink: ResponseSink): void {
    this.#head = head
    if (head.framing === 'chunked') this.#chunks = new ChunkedBody()
    else if (head.framing === 'until_close') this.#missing = Infinity
    else this.#missing = head.framing
    sink.onHead(head)
  }

  #feedChunks(chunks: ChunkedBody, bytes: Buffer, start: number, sink: ResponseSink): Progress {
    const end = chunks.feed(bytes, start)
    if (chunks.contentEnd > chunks.contentStart) sink.onPiece(bytes, chunks.contentStart, chunks.contentEnd)
    if (chunks.state === 'broken') return 'malformed_body'
    if (chunks.state !== 'whole') return 'more'
    return end < bytes.length ? 'surplus' : 'whole'
  }
}
