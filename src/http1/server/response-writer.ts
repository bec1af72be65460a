import type { ByteStream } from '../byte-stream.ts'
import { SocketWriter, type WritableSocket } from '../socket-writer.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody, responseStart } from '../wire/response-start.ts'
import { HttpError } from './http-error.ts'

export type ServerResponse = {
  readonly status: number
  /** By names in lower case. The server adds `date`, `content-length` or `transfer-encoding`, and `connection`. */
  readonly headers: Readonly<Record<string, string>>
  /** The values of `set-cookie` headers. */
  readonly cookies?: readonly string[] | undefined
  /**
   * A string is sent as UTF-8. A stream is read as fast as the client takes it, and cancelled when the client
   * disconnects.
   */
  readonly body: string | Uint8Array | ByteStream | null
  /** The length of a stream, if it is known. A stream of another length breaks the connection. */
  readonly contentLength?: number | undefined
}

export function isStream(body: ServerResponse['body']): body is ByteStream {
  return body !== null && typeof body === 'object' && 'cancel' in body
}

/** In bytes; undefined for a stream whose length is not known. */
export type BodyLength = number | undefined

export function bodyLength({ body, contentLength }: ServerResponse): BodyLength {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return isStream(body) ? contentLength : (body?.length ?? 0)
}

/** Writes of up to this size are assembled in one buffer that all connections share. */
const SCRATCH_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

const LINE_END = '\r\n'
const LAST_CHUNK = '0\r\n\r\n'

/**
 * Writes responses to a socket. A stream is read again only when its previous piece has been taken by the kernel, so
 * that at most one piece is kept.
 */
export class ResponseWriter {
  readonly #writer: SocketWriter
  readonly #onBlocked: () => void
  #stream: ByteStream | undefined
  #isClosed = false

  /** `onBlocked` is called when the kernel does not take everything. */
  constructor(socket: WritableSocket, onBlocked: () => void) {
    this.#writer = new SocketWriter(socket)
    this.#onBlocked = onBlocked
  }

  /** Whether the kernel has taken everything. */
  get isDrained(): boolean {
    return this.#writer.isDrained
  }

  sendContinue(): void {
    this.#write('HTTP/1.1 100 Continue\r\n\r\n')
  }

  /**
   * Sends a head, and a body of `bytes` bytes. Resolves when the kernel has taken it; rejects when the connection is
   * closed before that.
   */
  send(head: string, body?: Uint8Array | string, bytes?: number): Promise<void> {
    this.#write(head, body, bytes)
    return this.#writer.drained()
  }

  /** Sends a head and a stream. Also rejects when the stream cannot be read, or does not have its declared length. */
  async sendStream(
    head: string,
    stream: ByteStream,
    { isChunked, length }: { readonly isChunked: boolean; readonly length?: number | undefined },
  ): Promise<void> {
    this.#stream = stream
    // The head is sent together with the first piece, which is usually there already.
    let before = head
    let missing = length ?? 0
    let piece: Uint8Array | undefined
    do {
      piece = await stream.read()
      if (this.#isClosed) return
      missing -= piece?.length ?? 0
      const isEnd = piece === undefined
      if (length !== undefined && (missing < 0 || (isEnd && missing > 0))) throw wrongLength(length)
      if (!isChunked) this.#write(before, piece, piece?.length)
      else if (piece === undefined) this.#write(before + LAST_CHUNK)
      else this.#write(`${before}${piece.length.toString(16)}\r\n`, piece, piece.length, LINE_END)
      before = ''
      if (!this.isDrained) await this.#writer.drained()
    } while (piece !== undefined)
    this.#stream = undefined
  }

  /** The kernel takes more bytes. */
  onDrain(): void {
    this.#writer.onDrain()
    if (!this.isDrained) this.#onBlocked()
  }

  /** The connection is closed. Cancels the stream. */
  onClose(): void {
    this.#isClosed = true
    this.#stream?.cancel()
    this.#writer.close(DISCONNECTED)
  }

  /**
   * Sends all three in one write. `before` and `after` are Latin-1, and a string as content is sent as UTF-8, in
   * `contentBytes` bytes.
   */
  #write(before: string, content: Uint8Array | string = '', contentBytes = 0, after = ''): void {
    const size = before.length + contentBytes + after.length
    if (size === 0) return
    const isSmall = size <= SCRATCH_BYTES
    const target = isSmall ? scratch : Buffer.allocUnsafe(size)
    target.write(before, 0, 'latin1')
    if (typeof content === 'string') target.write(content, before.length)
    else target.set(content, before.length)
    if (after !== '') target.write(after, size - after.length, 'latin1')
    if (isSmall) this.#writer.writeShared(target, size)
    else this.#writer.write(target)
    if (!this.isDrained) this.#onBlocked()
  }
}

/** The response cannot be repaired, because its head has declared the length. */
function wrongLength(length: number): Error {
  return new Error(`A streamed response does not have the ${length} bytes that were declared.`)
}

const DISCONNECTED = new HttpError(
  'client_disconnected',
  'The client disconnected before the end of the response.',
)

/** The head of a response, including the blank line. Throws for a header value that does not fit in one line. */
export function responseHead(
  { status, headers, cookies }: ServerResponse,
  { isHttp10 }: RequestHead,
  { date, isLast, length }: { readonly date: string; readonly isLast: boolean; readonly length: BodyLength },
): string {
  let text = `${responseStart(status, headers, cookies)}date: ${date}\r\n`
  if (isLast) {
    if (headers['connection'] === undefined) text += 'connection: close\r\n'
  } else if (isHttp10) text += 'connection: keep-alive\r\n'
  if (hasNoBody(status)) return `${text}\r\n`
  if (length !== undefined) return `${text}content-length: ${length}\r\n\r\n`
  return isHttp10 ? `${text}\r\n` : `${text}transfer-encoding: chunked\r\n\r\n`
}
