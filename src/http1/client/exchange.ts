import type { OwnedByteStream } from '../byte-stream.ts'
import type { Timers } from '../timers.ts'
import type { AbortSignalLike } from './http-client.ts'
import { clientError, type ClientError } from './client-error.ts'
import { RequestLimits } from './request-limits.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseSink } from './response-reader.ts'

/** What carries an exchange: a connection, or the opening of one. */
export type Transport = {
  /** Stops reading from the server. */
  pause(): void
  resume(): void
  /** Closes the connection at once. The exchange hears no more of it. */
  abandon(): void
}

type Piece = Uint8Array<ArrayBuffer>

/**
 * How much of a body is buffered before the server has to wait. One read of the socket, half a megabyte at most, can
 * come on top. The socket is also paused behind a piece of this size until more is asked for, so that a reader that
 * stalls over it does not have a second one buffered.
 */
const READ_AHEAD_BYTES = 32 * 1024

/** One request and its response: buffers the response until it is read, and ends it when its time is over. */
export class Exchange implements OwnedByteStream, ResponseSink {
  readonly #limits: RequestLimits
  #transport: Transport | undefined
  #head: ResponseHead | undefined
  #headWaiter: PromiseWithResolvers<ResponseHead> | undefined
  #buffered: Piece[] = []
  #bufferedBytes = 0
  #reader: PromiseWithResolvers<Piece | undefined> | undefined
  #isEnded = false
  #failure: ClientError | undefined

  constructor(timers: Timers, signal: AbortSignalLike | undefined) {
    this.#limits = new RequestLimits(timers, signal, failure => this.#cut(failure))
  }

  /** Why the exchange failed. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  /** Begins to watch the time and the caller's signal. Throws where that has fired already. */
  start(timeoutMs: number | undefined): void {
    this.#limits.start(timeoutMs)
  }

  /** The transport from now on. One that comes too late is abandoned. */
  attach(transport: Transport): void {
    if (this.#failure === undefined) this.#transport = transport
    else transport.abandon()
  }

  /** Resolves when the head of the response has come. */
  head(): Promise<ResponseHead> {
    if (this.#head !== undefined) return Promise.resolve(this.#head)
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#headWaiter = Promise.withResolvers<ResponseHead>()
    return this.#headWaiter.promise
  }

  read(): Promise<Piece | undefined> {
    const piece = this.#buffered.shift()
    if (piece !== undefined) {
      this.#bufferedBytes -= piece.length
      return Promise.resolve(piece)
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isEnded) return Promise.resolve(undefined)
    this.#reader = Promise.withResolvers<Piece | undefined>()
    this.#transport?.resume()
    return this.#reader.promise
  }

  /** Closes the connection; pending and later reads reject. Does nothing after the whole response was read. */
  cancel(): void {
    this.#cut(clientError('ABORT_ERR'))
  }

  onHead(head: ResponseHead): void {
    this.#head = head
    this.#headWaiter?.resolve(head)
    this.#headWaiter = undefined
  }

  onPiece(bytes: Buffer<ArrayBuffer>, start: number, end: number): void {
    // Not a Buffer, whose `slice` does not copy.
    const piece = new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
    const reader = this.#reader
    this.#reader = undefined
    if (reader !== undefined) reader.resolve(piece)
    else {
      this.#buffered.push(piece)
      this.#bufferedBytes += piece.length
    }
    if (piece.length >= READ_AHEAD_BYTES || this.#bufferedBytes >= READ_AHEAD_BYTES) this.#transport?.pause()
  }

  /** The response is whole. Its connection is no longer this exchange's. */
  onEnd(): void {
    this.#finish()
    this.#isEnded = true
    this.#reader?.resolve(undefined)
    this.#reader = undefined
  }

  /** The response will not become whole. What has come of it can still be read. */
  fail(failure: ClientError): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#finish()
    this.#failure = failure
    this.#headWaiter?.reject(failure)
    this.#headWaiter = undefined
    this.#reader?.reject(failure)
    this.#reader = undefined
  }

  #cut(failure: ClientError): void {
    if (this.#isEnded && this.#buffered.length === 0) return
    this.#buffered = []
    this.#bufferedBytes = 0
    this.#isEnded = false
    const transport = this.#transport
    this.fail(failure)
    transport?.abandon()
  }

  #finish(): void {
    this.#transport = undefined
    this.#limits.stop()
  }
}
