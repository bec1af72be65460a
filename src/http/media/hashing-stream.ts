import type { ByteStream } from '../../http1/byte-stream.ts'

/** A digest that is computed piece by piece, as `node:crypto` has them. */
export type RunningHash = {
  update(bytes: Uint8Array): unknown
  digest(encoding: 'hex'): string
}
export type NewHash = () => RunningHash

/** Passes a stream on, and hashes its bytes on the way. */
export class HashingStream implements ByteStream {
  readonly #source: ByteStream
  readonly #hash: RunningHash

  constructor(source: ByteStream, hash: RunningHash) {
    this.#source = source
    this.#hash = hash
  }

  async read() {
    const bytes = await this.#source.read()
    if (bytes !== undefined) this.#hash.update(bytes)
    return bytes
  }

  cancel(): void {
    this.#source.cancel()
  }

  /** In hexadecimal digits, of what was read. Ask once. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}
