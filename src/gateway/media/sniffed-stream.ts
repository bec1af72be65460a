import { mediaTypeOf, SIGNATURE_BYTES } from '../../protocol/media/media-signature.ts'
import type { ByteStream } from '../ports/byte-stream.ts'

/** A stream that notes the format of its bytes on the way. */
export class SniffedStream implements ByteStream {
  readonly #source: ByteStream
  readonly #head = new Uint8Array(SIGNATURE_BYTES)
  #length = 0

  constructor(source: ByteStream) {
    this.#source = source
  }

  /** By the first bytes that were read; undefined for a format that is not known. */
  get mediaType(): string | undefined {
    return mediaTypeOf(this.#head.subarray(0, this.#length))
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = await this.#source.read()
    if (bytes !== undefined && this.#length < SIGNATURE_BYTES) {
      const part = bytes.subarray(0, SIGNATURE_BYTES - this.#length)
      this.#head.set(part, this.#length)
      this.#length += part.length
    }
    return bytes
  }

  cancel(): void {
    this.#source.cancel()
  }
}
