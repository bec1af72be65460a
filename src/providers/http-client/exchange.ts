import type { HttpExchange } from './http-client.ts'
import { httpFailure } from './http-failure.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseSink } from './response-reader.ts'

/** The connection of an exchange, as far as the exchange knows it. */
export type Line = {
  pause(): void
  resume(): void
  /** Closes it at once; the exchange hears no more of it. */
  abandon(): void
}

type Bytes = Uint8Array<ArrayBuffer>
type Waiting =
  | { readonly for: 'head'; readonly resolve: (head: ResponseHead) => void; readonly reject: Reject }
  | { readonly for: 'piece'; readonly resolve: (piece: Bytes | undefined) => void; readonly reject: Reject }
  | { readonly for: 'whole'; readonly resolve: (body: Bytes | undefined) => void; readonly reject: Reject }
type Reject = (reason: Error) => void

/** How much of a body waits here for a reader before the server has to wait. One more read of the socket can come on top. */
const READ_AHEAD_BYTES = 128 * 1024

/** Holds what has come of one answer until it is asked for. */
export class Exchange implements HttpExchange, ResponseSink {
  #line: Line | undefined
  #head: ResponseHead | undefined
  #pieces: Bytes[] = []
  #length = 0
  #bytesMax = 0
  #isEnded = false
  #failure: Error | undefined
  #waiting: Waiting | undefined

  head(): Promise<ResponseHead> {
    return new Promise((resolve, reject) => this.#ask({ for: 'head', resolve, reject }))
  }

  read(): Promise<Bytes | undefined> {
    return new Promise((resolve, reject) => this.#ask({ for: 'piece', resolve, reject }))
  }

  whole(bytesMax: number): Promise<Bytes | undefined> {
    this.#bytesMax = bytesMax
    return new Promise((resolve, reject) => this.#ask({ for: 'whole', resolve, reject }))
  }

  cut(): void {
    if (this.#isEnded && this.#pieces.length === 0) return
    this.#pieces = []
    this.#length = 0
    this.#line?.abandon()
    this.onFailed(httpFailure('ABORT_ERR'))
  }

  /** From its connection, before anything else. */
  onLine(line: Line): void {
    this.#line = line
  }

  onHead(head: ResponseHead): void {
    this.#head = head
    this.#settle()
  }

  onPiece(bytes: Bytes): void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
    this.#settle()
    if (this.#length >= READ_AHEAD_BYTES && this.#waiting?.for !== 'whole') this.#line?.pause()
  }

  /** The answer is whole. The connection is no longer this exchange's. */
  onEnd(): void {
    this.#line = undefined
    this.#isEnded = true
    this.#settle()
  }

  onFailed(failure: Error): void {
    this.#line = undefined
    this.#failure ??= failure
    this.#settle()
  }

  #ask(waiting: Waiting): void {
    this.#waiting = waiting
    this.#settle()
    if (this.#waiting !== undefined) this.#line?.resume()
  }

  /** Gives what is waited for, where it is there. */
  #settle(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    if (waiting.for === 'head' && this.#head !== undefined) {
      this.#waiting = undefined
      waiting.resolve(this.#head)
    } else if (waiting.for === 'piece' && this.#pieces.length > 0) {
      this.#waiting = undefined
      waiting.resolve(this.#takeAll())
    } else if (waiting.for === 'whole' && this.#length > this.#bytesMax) {
      this.#waiting = undefined
      waiting.resolve(undefined)
      this.cut()
    } else if (this.#failure !== undefined) {
      this.#waiting = undefined
      waiting.reject(this.#failure)
    } else if (this.#isEnded && waiting.for !== 'head') {
      this.#waiting = undefined
      waiting.resolve(waiting.for === 'whole' ? this.#takeAll() : undefined)
    }
  }

  #takeAll(): Bytes {
    const pieces = this.#pieces
    const length = this.#length
    this.#pieces = []
    this.#length = 0
    const [only] = pieces
    if (pieces.length === 1 && only !== undefined) return only
    const whole = new Uint8Array(length)
    let at = 0
    for (const piece of pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return whole
  }
}
