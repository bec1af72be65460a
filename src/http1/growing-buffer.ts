const INITIAL_BYTES = 4096

/**
 * Collects bytes in one buffer. A list of received pieces would use far more memory than their content when a peer
 * sends one byte at a time.
 */
export class GrowingBuffer {
  readonly #expectedBytes: number
  #buffer = new ArrayBuffer(0)
  #length = 0

  /** The buffer grows by doubling, but not beyond `expectedBytes` unless it receives more. */
  constructor(expectedBytes = Infinity) {
    this.#expectedBytes = expectedBytes
  }

  get length(): number {
    return this.#length
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length
    if (length > this.#buffer.byteLength) {
      const doubled = Math.max(2 * this.#buffer.byteLength, INITIAL_BYTES)
      const capacity = Math.max(length, Math.min(doubled, this.#expectedBytes))
      this.#buffer = this.#buffer.transfer(capacity)
    }
    new Uint8Array(this.#buffer).set(bytes, this.#length)
    this.#length = length
  }

  /** Removes and returns all bytes, in a buffer of exactly their length. */
  take(): Uint8Array<ArrayBuffer> {
    const buffer = this.#buffer
    const length = this.#length
    this.#buffer = new ArrayBuffer(0)
    this.#length = 0
    return new Uint8Array(buffer.byteLength === length ? buffer : buffer.transfer(length))
  }

  /** Like `take`, as a Buffer of the same memory. */
  takeBuffer(): Buffer<ArrayBuffer> {
    return Buffer.from(this.take().buffer)
  }
}
