import { ChunkedBody } from './chunked-body.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

/** Where a response goes as it is read. */
export type ResponseSink = {
  onHead(head: ResponseHead): void
  /** The next bytes of the body, never none. They are the sink's to keep. */
  onPiece(bytes: Uint8Array<ArrayBuffer>): void
}

/** What the bytes so far amount to. `surplus`: the response is whole, and more came behind it. */
export type Progress = 'more' | 'whole' | 'surplus' | 'malformed_head' | 'malformed_body'

const HEAD_BYTES_MAX = 64 * 1024
const PROTOCOL = 'HTTP/1.'

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
      const end = bytes.indexOf('\r\n\r\n', at)
      if ((end < 0 ? bytes.length : end) - at > HEAD_BYTES_MAX) return 'malformed_head'
      if (end < 0) {
        if (!beginsLikeHttp(bytes, at)) return 'malformed_head'
        this.#partialHead = bytes.subarray(at)
        return 'more'
      }
      const head = parseHead(bytes.toString('latin1', at, end))
      // Nobody asked to switch protocols; the other interim answers say nothing that matters here.
      if (head === undefined || head.status === 101) return 'malformed_head'
      at = end + 4
      if (head.status >= 200) this.#begin(head, sink)
    }
    return this.#feedBody(bytes, at, sink)
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

  #feedBody(bytes: Buffer, start: number, sink: ResponseSink): Progress {
    if (this.#chunks !== undefined) return this.#feedChunks(this.#chunks, bytes, start, sink)
    const end = Math.min(bytes.length, start + this.#missing)
    if (end > start) sink.onPiece(plain(bytes.subarray(start, end)))
    this.#missing -= end - start
    if (this.#missing > 0) return 'more'
    return end < bytes.length ? 'surplus' : 'whole'
  }

  #feedChunks(chunks: ChunkedBody, bytes: Buffer, start: number, sink: ResponseSink): Progress {
    const end = chunks.feed(bytes, start)
    const content = chunks.content(bytes)
    if (content.length > 0) sink.onPiece(plain(content))
    if (chunks.state === 'broken') return 'malformed_body'
    if (chunks.state !== 'whole') return 'more'
    return end < bytes.length ? 'surplus' : 'whole'
  }
}

/** Said of the first bytes already: what speaks another protocol may never send a blank line. */
function beginsLikeHttp(bytes: Buffer, at: number): boolean {
  const seen = bytes.toString('latin1', at, at + PROTOCOL.length)
  return PROTOCOL.startsWith(seen)
}

/** The same memory, without the methods that make a Buffer another thing than a Uint8Array. */
function plain(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)
}
