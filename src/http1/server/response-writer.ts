import type { ByteStream } from '../byte-stream.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody, responseStart } from '../wire/response-start.ts'

export type ServerResponse = {
  readonly status: number
  /** By names in lower case. The server adds `date`, `content-length` or `transfer-encoding`, and `connection`. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * A string is sent as UTF-8. A stream is read as fast as the client takes it, and cancelled when the client
   * disconnects.
   */
  readonly body: string | Uint8Array | ByteStream | null
}

export function isStream(body: ServerResponse['body']): body is ByteStream {
  return body !== null && typeof body === 'object' && 'cancel' in body
}

/** Writes of up to this size are assembled in one buffer that all connections share. */
const SCRATCH_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

const LINE_END = '\r\n'
const LAST_CHUNK = '0\r\n\r\n'

export type WritableSocket = { write(bytes: Uint8Array, from: number, length: number): number }

/**
 * Writes to a socket. Each write goes to the kernel at once, and the part that the kernel does not take is kept until
 * it does. A stream is read again only when its previous piece has been taken, so that at most one piece is kept.
 */
export class ResponseWriter {
  readonly #socket: WritableSocket
  readonly #onBlocked: () => void
  #unsent: Buffer | undefined
  #onFlushed: (() => void) | undefined
  #stream: ByteStream | undefined
  #isClosed = false

  /** `onBlocked` is called when the kernel does not take all of a write. */
  constructor(socket: WritableSocket, onBlocked: () => void) {
    this.#socket = socket
    this.#onBlocked = onBlocked
  }

  /** Whether the kernel has taken everything. */
  get isFlushed(): boolean {
    return this.#unsent === undefined
  }

  /**
   * Sends Latin-1 text and content, a string as UTF-8. Resolves when the kernel has taken all of it, or the connection
   * is closed.
   */
  async send(text: string, content: Uint8Array | string): Promise<void> {
    this.#write(text, content, '')
    if (!this.isFlushed) await this.#flushed()
  }

  /** Sends a head and a stream. Resolves like `send`; rejects when the stream cannot be read. */
  async sendStream(head: string, stream: ByteStream, { isChunked }: { isChunked: boolean }): Promise<void> {
    this.#stream = stream
    // The head is sent together with the first piece, which is usually there already.
    let before = head
    let piece: Uint8Array | undefined
    do {
      piece = await stream.read()
      if (this.#isClosed) return
      if (!isChunked) this.#write(before, piece ?? '', '')
      else if (piece === undefined) this.#write(before + LAST_CHUNK, '', '')
      else this.#write(`${before}${piece.length.toString(16)}\r\n`, piece, LINE_END)
      before = ''
      if (!this.isFlushed) await this.#flushed()
    } while (piece !== undefined && !this.#isClosed)
    this.#stream = undefined
  }

  /** The kernel takes more bytes. */
  onDrain(): void {
    const unsent = this.#unsent
    if (unsent === undefined) return
    this.#unsent = undefined
    this.#writeBytes(unsent, unsent.length)
    if (this.#unsent === undefined) this.#onFlushed?.()
  }

  /** The connection is closed. Cancels the stream. */
  onClose(): void {
    this.#isClosed = true
    this.#unsent = undefined
    this.#stream?.cancel()
    this.#onFlushed?.()
  }

  #flushed(): Promise<void> {
    return new Promise(resolve => (this.#onFlushed = resolve))
  }

  /** Sends all three in one write. `before` and `after` are Latin-1. */
  #write(before: string, content: Uint8Array | string, after: string): void {
    const contentBytes = typeof content === 'string' ? Buffer.byteLength(content) : content.length
    const size = before.length + contentBytes + after.length
    if (size === 0) return
    const target = size <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(size)
    target.write(before, 0, 'latin1')
    if (typeof content === 'string') target.write(content, before.length)
    else target.set(content, before.length)
    target.write(after, size - after.length, 'latin1')
    this.#writeBytes(target, size)
  }

  #writeBytes(bytes: Buffer, size: number): void {
    if (this.#unsent !== undefined) {
      this.#unsent = Buffer.concat([this.#unsent, bytes.subarray(0, size)])
      return
    }
    const taken = this.#socket.write(bytes, 0, size)
    // A negative number means that the socket is closed, which `onClose` is about to report.
    if (taken === size || taken < 0) return
    const rest = bytes.subarray(taken, size)
    this.#unsent = bytes === scratch ? Buffer.from(rest) : rest
    this.#onBlocked()
  }
}

/** The head of a response, including the blank line. Throws for a header value that does not fit in one line. */
export function responseHead(
  { status, headers, body }: ServerResponse,
  { isHttp10 }: RequestHead,
  { date, isLast }: { readonly date: string; readonly isLast: boolean },
): string {
  let text = `${responseStart(status, headers)}date: ${date}\r\n`
  if (isLast) {
    if (headers['connection'] === undefined) text += 'connection: close\r\n'
  } else if (isHttp10) text += 'connection: keep-alive\r\n'
  if (hasNoBody(status)) return `${text}\r\n`
  if (isStream(body)) return isHttp10 ? `${text}\r\n` : `${text}transfer-encoding: chunked\r\n\r\n`
  return `${text}content-length: ${byteLength(body)}\r\n\r\n`
}

function byteLength(body: string | Uint8Array | null): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}
