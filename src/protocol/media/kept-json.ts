import { GatewayError } from '../../domain/errors.ts'

const FIRST_BYTES = 4096

/** A limit for the part of a body that is kept in memory. Throws `invalid_field` when it is exceeded. */
export class KeptLimit {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#bytesMax) throw tooLong(this.#bytesMax)
  }
}

/** The part of a JSON text that is kept in memory, up to a limit. */
export class KeptJson {
  readonly #limit: KeptLimit
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  constructor(limit: KeptLimit) {
    this.#limit = limit
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
    this.#bytes[this.#length - 1] = byte
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from)
    this.#bytes.set(bytes.subarray(from, to), this.#length - (to - from))
  }

  from(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#length)
  }

  /** At the end, for so many bytes. */
  #makeRoom(bytes: number): void {
    this.#limit.add(bytes)
    this.#length += bytes
    if (this.#length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

function tooLong(bytesMax: number): GatewayError {
  const limit = `${Math.floor(bytesMax / 1024)} KB`
  return new GatewayError(
    'invalid_field',
    `The body has more than ${limit} besides the files in it. Shorten its text fields or send fewer links.`,
  )
}
