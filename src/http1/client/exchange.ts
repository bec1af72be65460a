import type { AnswerReceiver, HttpExchange, PieceReceiver } from './http-client.ts'
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
  | { readonly for: 'piece'; readonly receiver: PieceReceiver }
  | { readonly for: 'answer'; readonly bytesMax: number; readonly receiver: AnswerReceiver }
type Reject = (reason: Error) => void

/**
 * How much of a body waits here for a reader before the server has to wait. One read of the socket, half a megabyte at most, can
 * come on top; so the socket also rests behind a piece of this size, until more is asked for: else a reader that stalls over it
 * would have a second one waiting here. What is asked for comes in smaller pieces as a rule, and then the socket never rests.
 */
const READ_AHEAD_BYTES = 32 * 1024

/** Up to here a piece is copied: the runtime has so small an array at hand, and a view of what was received costs it more. */
const COPIED_BYTES_MAX = 1000

/** Holds what has come of one answer until it is asked for. */
export class Exchange implements HttpExchange, ResponseSink {
  #line: Line | undefined
  #head: ResponseHead | undefined
  /** What has come of the body and was not taken: nearly always within one read of the socket. */
  #first: Buffer | undefined
  #start = 0
  #end = 0
  #more: Buffer[] | undefined
  #length = 0
  #isEnded = false
  #failure: Error | undefined
  #waiting: Waiting | undefined

  head(): Promise<ResponseHead> {
    return new Promise((resolve, reject) => this.#ask({ for: 'head', resolve, reject }))
  }

  read(receiver: PieceReceiver): void {
    this.#ask({ for: 'piece', receiver })
  }

  answer(bytesMax: number, receiver: AnswerReceiver): void {
    this.#ask({ for: 'answer', bytesMax, receiver })
  }

  cut(): void {
    if (this.#isEnded && this.#length === 0) return
    this.#drop()
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

  onPiece(bytes: Buffer, start: number, end: number): void {
    if (this.#first === undefined) {
      this.#first = bytes
      this.#start = start
      this.#end = end
    } else (this.#more ??= []).push(bytes.subarray(start, end))
    this.#length += end - start
    this.#settle()
    if (this.#length >= READ_AHEAD_BYTES && this.#waiting?.for !== 'answer') this.#line?.pause()
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
    if (waiting.for === 'answer') this.#settleAnswer(waiting)
    else if (waiting.for === 'piece') this.#settlePiece(waiting.receiver)
    else if (this.#head !== undefined) {
      this.#waiting = undefined
      waiting.resolve(this.#head)
    } else if (this.#failure !== undefined) {
      this.#waiting = undefined
      waiting.reject(this.#failure)
    }
  }

  #settlePiece(receiver: PieceReceiver): void {
    if (this.#length === 0 && this.#failure === undefined && !this.#isEnded) return
    this.#waiting = undefined
    if (this.#length > 0) receiver.onPiece(this.#takePiece())
    else if (this.#failure !== undefined) receiver.onFailed(this.#failure)
    else receiver.onPiece(undefined)
  }

  #settleAnswer({ bytesMax, receiver }: Waiting & { readonly for: 'answer' }): void {
    const head = this.#head
    const promised = head === undefined || typeof head.framing !== 'number' ? 0 : head.framing
    if (this.#failure !== undefined) {
      this.#waiting = undefined
      receiver.onFailed(this.#failure)
    } else if (promised > bytesMax || this.#length > bytesMax) {
      this.#waiting = undefined
      this.cut()
      receiver.onTooLarge()
    } else if (this.#isEnded && head !== undefined) {
      this.#waiting = undefined
      const bytes = this.#join()
      receiver.onAnswer(head, bytes, this.#start, this.#end)
      this.#drop()
    }
  }

  /** All that has come, in one piece. */
  #takePiece(): Bytes {
    if (this.#length >= READ_AHEAD_BYTES) this.#line?.pause()
    const bytes = this.#join()
    if (this.#length <= COPIED_BYTES_MAX) {
      const copy = new Uint8Array(this.#length)
      bytes.copy(copy, 0, this.#start, this.#end)
      this.#drop()
      return copy
    }
    const piece = new Uint8Array(
      bytes.buffer as ArrayBuffer,
      bytes.byteOffset + this.#start,
      this.#end - this.#start,
    )
    this.#drop()
    return piece
  }

  /** Puts together what has come: it then stands in the bytes this gives, from `#start` to `#end`. */
  #join(): Buffer {
    if (this.#more !== undefined && this.#first !== undefined) {
      const first = this.#first.subarray(this.#start, this.#end)
      this.#first = Buffer.concat([first, ...this.#more], this.#length)
      this.#more = undefined
      this.#start = 0
      this.#end = this.#length
    }
    return this.#first ?? NOTHING
  }

  #drop(): void {
    this.#first = undefined
    this.#more = undefined
    this.#start = 0
    this.#end = 0
    this.#length = 0
  }
}

const NOTHING = Buffer.alloc(0)
