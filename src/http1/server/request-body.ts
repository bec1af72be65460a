import { GatewayError } from '../../domain/errors.ts'
import { ChunkedBody } from '../wire/chunked-body.ts'

type Bytes = Uint8Array<ArrayBuffer>

const FIRST_BYTES = 1 << 16
const BYTES_PER_MB = 1 << 20

/** A body that had not come whole with its request's head: gathered as it comes, or dropped. */
export class RequestBody {
  #state: 'coming' | 'whole' | 'broken' = 'coming'
  readonly #chunks: ChunkedBody | undefined
  /** What of a declared length has not come; Infinity where none was declared. */
  #missing: number
  /** One buffer that grows: a client can send pieces of one byte, and kept one by one they weigh a hundred times as much. */
  #buffer = new ArrayBuffer(0)
  #length = 0
  #bytesMax = Infinity
  #reader: { resolve(bytes: Bytes): void; reject(reason: Error): void } | undefined
  /** Why nobody will get it; what comes is not kept then. */
  #failure: Error | undefined

  constructor(framing: number | 'chunked') {
    this.#chunks = framing === 'chunked' ? new ChunkedBody() : undefined
    this.#missing = framing === 'chunked' ? Infinity : framing
  }

  /** Not to be fed any more once it is not. */
  get isComing(): boolean {
    return this.#state === 'coming'
  }

  /** Ended by what is no chunk. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /** How much is still to come, as far as the client has said; Infinity where it has not. */
  get missing(): number {
    return this.#missing
  }

  /** How much has come that nobody has asked for. */
  get unasked(): number {
    return this.#reader === undefined ? this.#length : 0
  }

  /** Takes bytes from `at`, which it may change, and gives where it stopped: before their end where the body ends. */
  feed(bytes: Buffer, at: number): number {
    if (this.#chunks !== undefined) return this.#feedChunks(this.#chunks, bytes, at)
    const end = Math.min(bytes.length, at + this.#missing)
    this.#missing -= end - at
    this.#keep(bytes, at, end)
    if (this.#missing === 0) this.#end()
    return end
  }

  /** All of it, once it has come. Rejects as soon as it passes the limit, or cannot be read, or with what `fail` is told. */
  read(bytesMax: number): Promise<Bytes> {
    this.#bytesMax = bytesMax
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      if (this.#failure !== undefined) this.fail(this.#failure)
      else if (this.#length > bytesMax) this.fail(tooLarge(bytesMax))
      else if (this.#state === 'whole') this.#end()
    })
  }

  /** Nobody gets it any more. Changes nothing for a reader who has it. */
  fail(reason: Error): void {
    this.#failure ??= reason
    this.#buffer = new ArrayBuffer(0)
    this.#length = 0
    const reader = this.#reader
    this.#reader = undefined
    reader?.reject(this.#failure)
  }

  #feedChunks(chunks: ChunkedBody, bytes: Buffer, at: number): number {
    const end = chunks.feed(bytes, at)
    this.#keep(bytes, chunks.contentStart, chunks.contentEnd)
    if (chunks.state === 'whole') this.#end()
    else if (chunks.state === 'broken') {
      this.#state = 'broken'
      this.fail(new GatewayError('malformed_request', 'The chunks of the request body cannot be told apart.'))
    }
    return end
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (this.#failure !== undefined || from === to) return
    const length = this.#length + to - from
    if (length > this.#bytesMax) return this.fail(tooLarge(this.#bytesMax))
    if (length > this.#buffer.byteLength) {
      const size = Math.max(length, 2 * this.#buffer.byteLength, FIRST_BYTES)
      // No more than the length that was declared.
      this.#buffer = this.#buffer.transfer(Math.min(size, length + this.#missing))
    }
    new Uint8Array(this.#buffer).set(bytes.subarray(from, to), this.#length)
    this.#length = length
  }

  #end(): void {
    this.#state = 'whole'
    const reader = this.#reader
    if (reader === undefined) return
    this.#reader = undefined
    const isExact = this.#buffer.byteLength === this.#length
    reader.resolve(new Uint8Array(isExact ? this.#buffer : this.#buffer.transfer(this.#length)))
  }
}

export function tooLarge(bytesMax: number): GatewayError {
  // As the limit was set: with up to three decimals.
  const megabytes = Math.round((bytesMax / BYTES_PER_MB) * 1000) / 1000
  return new GatewayError('request_too_large', `The request body is over the limit of ${megabytes} MB.`)
}
