/**
 * Splits one connection's bytes into HTTP/1.1 messages whose length is given by `content-length`, and reports the head of
 * each once its body has arrived too. It reads no more than the benchmark needs, so that it costs next to nothing.
 */
export class HttpMessages {
  readonly #onMessage: (head: string) => void
  /** The head of the message whose body is still coming. */
  #head = ''
  #bodyBytesMissing = 0
  /** The beginning of a head whose end has not arrived. */
  #partialHead: Buffer | undefined

  constructor(onMessage: (head: string) => void) {
    this.#onMessage = onMessage
  }

  /** Takes the next bytes of the connection. Throws when a message does not say its length. */
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

  /** Where the body starts, or 0 when the head is not whole yet. */
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
  throw new Error(`An HTTP message without content-length:\n${head}`)
}
