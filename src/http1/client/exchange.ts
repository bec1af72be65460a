import { viewOf, wholeRange, type ByteRange } from '../byte-range.ts'
import type { OwnedByteStream } from '../byte-stream.ts'
import type { Timers } from '../timers.ts'
import type { AbortSignalLike, HttpResponse } from './http-client.ts'
import { clientError, unsent, type ClientError } from './client-error.ts'
import { ClientResponse } from './client-response.ts'
import { RequestLimits, type LimitedRequest } from './request-limits.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseSink } from './response-reader.ts'

/** The carrier of an exchange: a connection, or the opening of one. */
export type Transport = {
  /** Stops reading from the server. */
  pause(): void
  resume(): void
  /** Closes the connection at once. The exchange gets no more events from it. */
  abandon(): void
}

type Piece = Uint8Array<ArrayBuffer>

/** A body that can also be read whole. */
export interface ResponseBody extends OwnedByteStream {
  /**
   * The whole body. Cancels one that is longer than `bytesMax`, and rejects with `RESPONSE_TOO_LARGE`. Call it instead
   * of `read`.
   */
  readWhole(bytesMax: number): Promise<ByteRange>
}

/**
 * How much of a body is buffered before the server has to wait. One read of the socket, half a megabyte at most, can
 * come on top. The socket is also paused behind a piece of this size until more is asked for, so that a reader that
 * stalls over it does not have a second one buffered.
 */
const READ_AHEAD_BYTES = 32 * 1024

/** One request and its response: buffers the response until it is read, and ends it when its time is over. */
export class Exchange implements ResponseBody, ResponseSink, LimitedRequest {
  readonly #limits: RequestLimits
  readonly #response = Promise.withResolvers<HttpResponse>()
  #transport: Transport | undefined
  #isSent = false
  #buffered: ByteRange[] = []
  #bufferedBytes = 0
  #reader: PromiseWithResolvers<Piece | undefined> | undefined
  /** The reader of the whole body, and how long that may be. */
  #wholeReader: PromiseWithResolvers<ByteRange> | undefined
  #wholeBytesMax = 0
  #isEnded = false
  #failure: ClientError | undefined

  constructor(timers: Timers, signal: AbortSignalLike | undefined) {
    this.#limits = new RequestLimits(timers, signal, this)
  }

  /** Resolves when the head of the response has come. */
  get response(): Promise<HttpResponse> {
    return this.#response.promise
  }

  /** Why the exchange failed. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  /** Starts the time limit and listens to the caller's signal. Throws if the signal has already fired. */
  start(timeoutMs: number | undefined): void {
    this.#limits.start(timeoutMs)
  }

  /** The transport from now on. One that comes too late is abandoned. */
  attach(transport: Transport): void {
    if (this.#failure === undefined) this.#transport = transport
    else transport.abandon()
  }

  /** The request was written to a connection, so the server may see it. */
  onSent(): void {
    this.#isSent = true
  }

  read(): Promise<Piece | undefined> {
    const range = this.#buffered.shift()
    if (range !== undefined) {
      this.#bufferedBytes -= range.end - range.start
      return Promise.resolve(pieceOf(range))
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isEnded) return Promise.resolve(undefined)
    this.#reader = Promise.withResolvers<Piece | undefined>()
    this.#transport?.resume()
    return this.#reader.promise
  }

  readWhole(bytesMax: number): Promise<ByteRange> {
    this.#wholeBytesMax = bytesMax
    this.#cutIfTooLong()
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isEnded) return Promise.resolve(this.#takeWhole())
    this.#wholeReader = Promise.withResolvers<ByteRange>()
    this.#transport?.resume()
    return this.#wholeReader.promise
  }

  /** Closes the connection; pending and later reads reject. Does nothing after the whole response was read. */
  cancel(): void {
    this.cut(clientError('ABORT_ERR'))
  }

  onHead(head: ResponseHead): void {
    this.#response.resolve(new ClientResponse(head, this))
  }

  onPiece(bytes: Buffer<ArrayBuffer>, start: number, end: number): void {
    const range = { bytes, start, end }
    const reader = this.#reader
    this.#reader = undefined
    if (reader !== undefined) reader.resolve(pieceOf(range))
    else {
      this.#buffered.push(range)
      this.#bufferedBytes += end - start
    }
    if (this.#wholeReader !== undefined) this.#cutIfTooLong()
    else if (end - start >= READ_AHEAD_BYTES || this.#bufferedBytes >= READ_AHEAD_BYTES)
      this.#transport?.pause()
  }

  /** The response is whole. Its connection is no longer this exchange's. */
  onEnd(): void {
    this.#finish()
    this.#isEnded = true
    this.#reader?.resolve(undefined)
    this.#reader = undefined
    this.#wholeReader?.resolve(this.#takeWhole())
  }

  /** The response will not be complete. The bytes that have arrived can still be read. */
  fail(failure: ClientError): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#finish()
    this.#failure = failure
    this.#response.reject(this.#isSent ? failure : unsent(failure))
    this.#reader?.reject(failure)
    this.#reader = undefined
    this.#wholeReader?.reject(failure)
  }

  /** Fails the exchange, drops what is buffered and closes the connection. */
  cut(failure: ClientError): void {
    if (this.#isEnded && this.#buffered.length === 0) return
    this.#buffered = []
    this.#bufferedBytes = 0
    this.#isEnded = false
    const transport = this.#transport
    this.fail(failure)
    transport?.abandon()
  }

  #cutIfTooLong(): void {
    if (this.#bufferedBytes > this.#wholeBytesMax) this.cut(clientError('RESPONSE_TOO_LARGE'))
  }

  #takeWhole(): ByteRange {
    const ranges = this.#buffered
    this.#buffered = []
    const [only] = ranges
    return ranges.length === 1 && only !== undefined ? only : wholeRange(Buffer.concat(ranges.map(viewOf)))
  }

  #finish(): void {
    this.#transport = undefined
    this.#limits.stop()
  }
}

/** Not a Buffer, whose `slice` does not copy. */
function pieceOf({ bytes, start, end }: ByteRange): Piece {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + start, end - start)
}
