/** What was learned of a streamed reply by the bytes so far. */
export type StreamProgress = 'head' | 'body' | 'ended'

const HEAD_END = Buffer.from('\r\n\r\n')
/** What follows the last frame of a stream that ended well, in one chunk or in two. */
const DONE = 'data: [DONE]'
const BODY_END = '0\r\n\r\n'
const TAIL_BYTES = 64

/**
 * Reads streamed replies off one connection, one after the other. It looks at the head, and at the last bytes for the end;
 * what is between it only counts.
 */
export class StreamReplies {
  #progress: StreamProgress = 'ended'
  #head = ''
  #tail = ''
  /** Reads that held body bytes: about one for each piece, unless pieces were put together on the way. */
  reads = 0

  /** The next reply is on its way. */
  begin(): void {
    this.#progress = 'head'
    this.#head = ''
    this.#tail = ''
    this.reads = 0
  }

  /** Takes the next bytes. Throws at a reply that is no stream, and at one that ends without `[DONE]`. */
  feed(bytes: Buffer): StreamProgress {
    if (this.#progress === 'head') {
      this.#head += bytes.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return 'head'
      if (!/^HTTP\/1\.1 200 [^]*\r\ncontent-type: *text\/event-stream/i.test(this.#head))
        throw new Error(`Not a stream:\n${this.#head}`)
      const body = this.#head.slice(end + HEAD_END.length)
      if (body === '') return 'head'
      this.#progress = 'body'
      return this.#read(body.slice(-TAIL_BYTES))
    }
    const start = Math.max(0, bytes.length - TAIL_BYTES)
    return this.#read(bytes.toString('latin1', start))
  }

  #read(last: string): StreamProgress {
    this.reads += 1
    this.#tail = (this.#tail + last).slice(-TAIL_BYTES)
    if (this.#tail.endsWith(`\r\n${BODY_END}`)) {
      if (!this.#tail.includes(DONE)) throw new Error(`A stream ended without [DONE]: ${this.#tail}`)
      this.#progress = 'ended'
    }
    return this.#progress
  }
}
