import { GatewayError } from '../../domain/errors.ts'

const FIRST_BYTES = 4096

/** The part of a JSON text that is kept in memory, up to a limit. */
export class KeptJson {
  readonly #bytesMax: number
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0
  /** Bytes that count against the limit and are kept elsewhere. */
  #elsewhere = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  /** How much memory it takes. */
  get capacity(): number {
    return this.#bytes.length
  }

  push(byte: number): void {
    this.#makeRoom(1)
    this.#bytes[this.#length] = byte
    this.#length += 1
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from)
    this.#bytes.set(bytes.subarray(from, to), this.#length)
    this.#length += to - from
  }

  /** Counts bytes that the caller keeps. */
  count(bytes: number): void {
    this.#elsewhere += bytes
    this.#makeRoom(0)
  }

  from(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#length)
  }

  #makeRoom(bytes: number): void {
    const length = this.#length + bytes
    if (length + this.#elsewhere > this.#bytesMax) throw tooLong(this.#bytesMax)
    if (length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.min(this.#bytesMax, Math.max(length, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

function tooLong(bytesMax: number): GatewayError {
  const limit = `${Math.floor(bytesMax / 1024)} KB`
  return new GatewayError(
    'invalid_field',
    `The body has more than ${limit} of JSON besides the files in it. Shorten its text fields or send fewer links.`,
  )
}
