/** The progress of a streamed reply. */
export type StreamProgress = 'head' | 'body' | 'ended'

const HEAD_END = Buffer.from('\r\n\r\n')
/** The end of a complete stream, in one chunk or in two. */
const DONE = 'data: [DONE]'
const BODY_END = '0\r\n\r\n'
const TAIL_BYTES = 64

/**
 * Reads streamed replies from one connection, one after another. It checks the head and the last bytes, and counts the
 * reads between them.
 */
export class StreamReplies {
  #progress: StreamProgress = 'ended'
  #head = ''
  #tail = ''
  /** The reads with body bytes: about one per piece, unless pieces were combined on the way. */
  reads = 0

  /** Prepares for the next reply. */
  begin(): void {
    this.#progress = 'head'
    this.#head = ''
    this.#tail = ''
    this.reads = 0
  }

  /** Feeds the next bytes. Throws if the reply is not a stream, or ends without `[DONE]`. */
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
      if (!this.#tail.includes(DONE)) throw new Error(`Stream without [DONE]: ${this.#tail}`)
      this.#progress = 'ended'
    }
    return this.#progress
  }
}
