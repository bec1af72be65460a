/**
 * Splits the bytes of one connection into HTTP/1.1 messages with a `content-length`, and returns the head of each when
 * its body is complete. It reads only what the benchmark needs, to cost as little as possible.
 */
export class HttpMessages {
  readonly #onMessage: (head: string) => void
  /** The head of the message whose body is incomplete. */
  #head = ''
  #bodyBytesMissing = 0
  /** The beginning of an incomplete head. */
  #partialHead: Buffer | undefined

  constructor(onMessage: (head: string) => void) {
    this.#onMessage = onMessage
  }

  /** Feeds the next bytes of the connection. Throws if a message has no length. */
  feed(bytes: Buffer): void {
    let rest = this.#partialHead === undefined ? bytes : Buffer.concat([this.#partialHead, bytes])
    this.#partialHead = undefined
    while (rest.length > 0) {
      let bodyStart = 0
      if (this.#bodyBytesMissing === 0) {
        bodyStart = this.#readHead(rest)
        if (bodyStart === 0) return
      }
      const taken = Math.min(rest.length - bodyStart, this.#bodyBytesMissing)
      this.#bodyBytesMissing -= taken
      if (this.#bodyBytesMissing > 0) return
      this.#onMessage(this.#head)
      rest = rest.subarray(bodyStart + taken)
    }
  }

  /** The start of the body, or 0 if the head is incomplete. */
  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#partialHead = bytes
      return 0
    }
    this.#head = bytes.toString('latin1', 0, end)
    this.#bodyBytesMissing = contentLength(this.#head)
    return end + 4
  }
}

const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i

function contentLength(head: string): number {
  const match = CONTENT_LENGTH.exec(head)
  if (match !== null) return Number(match[1])
  if (head.startsWith('GET ')) return 0
  throw new Error(`HTTP message without content-length:\n${head}`)
}
