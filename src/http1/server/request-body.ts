import type { ByteStream } from '../byte-stream.ts'
import { GrowingBuffer } from '../growing-buffer.ts'
import { readToEnd } from '../read-all.ts'
import { ChunkedBody } from '../wire/chunked-body.ts'
import { bodyTooLarge, HttpError } from './http-error.ts'
import { NEVER, ticks } from './limits.ts'
import type { ReadTurns, WaitingBody } from './read-turns.ts'

export type BodyLimits = {
  readonly bytesMax: number
  /** How long the handler may wait for the next bytes. */
  readonly idleMs: number
  /** How long the handler may wait for bytes in total. The time in which it does not read is not counted. */
  readonly totalMs: number
  /** The slowest average rate at which the body may arrive. The same time counts as for `totalMs`. */
  readonly rateMin?: RateMin
}

/** Until `afterMs` have passed, any rate is allowed. */
export type RateMin = { readonly bytesPerS: number; readonly afterMs: number }

/** The part of a connection that a body uses. */
export type BodyConnection = {
  readonly tick: number
  readonly readTurns: ReadTurns
  /** A reader has taken all received bytes, or waits for more. */
  onBodyRead(): void
}

type PendingRead = {
  /** The time since which the body waits for the client. It does not wait while received bytes wait for their turn. */
  sinceTick: number
  resolve(bytes: Uint8Array | undefined): void
  reject(reason: Error): void
}

/** A request body that is large, or that had not arrived completely with its head. */
export class RequestBody implements ByteStream, WaitingBody {
  readonly #connection: BodyConnection
  readonly #chunks: ChunkedBody | undefined
  #state: 'arriving' | 'complete' | 'malformed' = 'arriving'
  /** How much of the declared length has not arrived; Infinity when no length was declared. */
  #missingBytes: number
  #receivedBytes = 0
  readonly #unread: GrowingBuffer
  /** Bytes that arrived after the reading had ended. They are not kept. */
  #droppedBytes = 0
  #limits: BodyLimits = { bytesMax: Infinity, idleMs: Infinity, totalMs: Infinity }
  #waitedTicks = 0
  #pendingRead: PendingRead | undefined
  /** Why `read` gives no more bytes. */
  #end: HttpError | 'cancelled' | undefined

  constructor(framing: number | 'chunked', connection: BodyConnection) {
    this.#connection = connection
    this.#chunks = framing === 'chunked' ? new ChunkedBody() : undefined
    this.#missingBytes = framing === 'chunked' ? Infinity : framing
    this.#unread = new GrowingBuffer(this.#missingBytes)
  }

  /** Whether more of the body follows on the connection. */
  get isArriving(): boolean {
    return this.#state === 'arriving'
  }

  /** Whether its chunks could not be read. The end of the body is then unknown. */
  get isMalformed(): boolean {
    return this.#state === 'malformed'
  }

  /** How much of the declared length has not arrived; Infinity when no length was declared. */
  get missingBytes(): number {
    return this.#missingBytes
  }

  /** How much has arrived that no reader has taken. */
  get unreadBytes(): number {
    return this.#unread.length + this.#droppedBytes
  }

  /** When the pending read fails; never when no read is pending. */
  get deadlineTick(): number {
    const read = this.#pendingRead
    if (read === undefined) return NEVER
    const { idleMs, totalMs, rateMin } = this.#limits
    const waitMsMax = Math.min(totalMs, longestWait(this.#receivedBytes, rateMin))
    return read.sinceTick + Math.min(ticks(idleMs), ticks(waitMsMax) - this.#waitedTicks)
  }

  /**
   * Takes bytes from `at` and returns the position after the last one that belongs to the body. May change the bytes.
   */
  feed(bytes: Buffer, at: number): number {
    if (this.#chunks !== undefined) return this.#feedChunks(this.#chunks, bytes, at)
    const end = Math.min(bytes.length, at + this.#missingBytes)
    this.#missingBytes -= end - at
    if (this.#missingBytes === 0) this.#state = 'complete'
    this.#receive(bytes.subarray(at, end))
    return end
  }

  /** Sets the limits of the reads that follow. */
  open(limits: BodyLimits): ByteStream {
    this.#limits = limits
    if (this.#receivedBytes > limits.bytesMax) this.fail(bodyTooLarge(limits.bytesMax))
    return this
  }

  readAll(limits: BodyLimits): Promise<Buffer> {
    const stream = this.open(limits)
    return readToEnd(stream, new GrowingBuffer(this.#receivedBytes + this.#missingBytes))
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#end !== undefined) return this.#end === 'cancelled' ? NO_MORE : Promise.reject(this.#end)
    const waiting = this.#unread.length
    if (waiting > 0 && this.#connection.readTurns.tryTake(waiting)) {
      const bytes = this.#unread.take()
      this.#connection.onBodyRead()
      return Promise.resolve(bytes)
    }
    if (waiting === 0 && this.#state === 'complete') return NO_MORE
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>()
    this.#pendingRead = { sinceTick: this.#connection.tick, resolve, reject }
    if (waiting > 0) this.#awaitTurn()
    else this.#connection.onBodyRead()
    return promise
  }

  /** Called by `readTurns`. The reader may have stopped since. */
  deliver(): number {
    const bytes = this.#unread.length
    const read = this.#endWait()
    if (read === undefined) return 0
    read.resolve(this.#unread.take())
    this.#connection.onBodyRead()
    return bytes
  }

  cancel(): void {
    this.#end ??= 'cancelled'
    this.#unread.take()
    this.#endWait()?.resolve(undefined)
  }

  /** Ends the reading with an error. Has no effect on a reader that has everything. */
  fail(error: HttpError): void {
    this.#end ??= error
    this.#unread.take()
    this.#endWait()?.reject(error)
  }

  #feedChunks(chunks: ChunkedBody, bytes: Buffer, at: number): number {
    const end = chunks.feed(bytes, at)
    if (chunks.state === 'complete') this.#state = 'complete'
    this.#receive(bytes.subarray(chunks.contentStart, chunks.contentEnd))
    if (chunks.state === 'malformed') {
      this.#state = 'malformed'
      this.fail(new HttpError('malformed_request', 'The request body has malformed chunks.'))
    }
    return end
  }

  #receive(bytes: Buffer): void {
    this.#receivedBytes += bytes.length
    if (this.#end !== undefined) this.#droppedBytes += bytes.length
    else if (this.#receivedBytes > this.#limits.bytesMax) this.fail(bodyTooLarge(this.#limits.bytesMax))
    else if (this.#pendingRead === undefined || this.#unread.length > 0) this.#unread.append(bytes)
    else if (bytes.length > 0) this.#arrive(bytes)
    else if (this.#state === 'complete') this.#endWait()?.resolve(undefined)
  }

  /** Gives the bytes to the pending read, or keeps them until their turn. */
  #arrive(bytes: Buffer): void {
    if (this.#connection.readTurns.tryTake(bytes.length)) return this.#endWait()?.resolve(bytes)
    this.#unread.append(bytes)
    this.#awaitTurn()
  }

  #awaitTurn(): void {
    const read = this.#pendingRead
    if (read === undefined) return
    this.#waitedTicks += this.#connection.tick - read.sinceTick
    read.sinceTick = NEVER
    this.#connection.readTurns.wait(this)
  }

  #endWait(): PendingRead | undefined {
    const read = this.#pendingRead
    if (read === undefined) return undefined
    this.#pendingRead = undefined
    if (read.sinceTick !== NEVER) this.#waitedTicks += this.#connection.tick - read.sinceTick
    return read
  }
}

const NO_MORE = Promise.resolve(undefined)

const MS_PER_S = 1000

/** The time after which these bytes alone are less than the rate demands. */
function longestWait(bytes: number, rateMin: RateMin | undefined): number {
  if (rateMin === undefined) return Infinity
  return Math.max(rateMin.afterMs, (bytes / rateMin.bytesPerS) * MS_PER_S)
}
