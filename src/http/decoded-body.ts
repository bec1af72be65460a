import type { Transform } from 'node:stream'
import { GatewayError } from '../domain/errors.ts'
import type { ByteStream } from '../http1/byte-stream.ts'
import { bodyTooLarge, HttpError } from '../http1/server/http-error.ts'

export type Decoding = {
  readonly decoder: Transform
  /** For the error message. */
  readonly encoding: string
  /** The limit of the decoded body. A few compressed bytes can expand to gigabytes. */
  readonly bytesMax: number
}

/** A body that is decoded as fast as it is read. Keeps one piece of it, and the buffers of the decoder. */
export class DecodedBody implements ByteStream {
  readonly #source: ByteStream
  readonly #decoding: Decoding
  readonly #pieces: AsyncIterator<Buffer>
  #decodedBytes = 0
  #isStarted = false

  constructor(source: ByteStream, decoding: Decoding) {
    this.#source = source
    this.#decoding = decoding
    this.#pieces = (decoding.decoder as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }

  /** Rejects with the error of the source, `body_too_large`, or `malformed_request`. */
  async read(): Promise<Uint8Array | undefined> {
    const { bytesMax } = this.#decoding
    if (!this.#isStarted) void this.#feed()
    this.#isStarted = true
    const { done, value } = await this.#next()
    if (done === true) return undefined
    this.#decodedBytes += value.length
    if (this.#decodedBytes <= bytesMax) return value
    this.cancel()
    throw bodyTooLarge(bytesMax)
  }

  cancel(): void {
    this.#source.cancel()
    this.#decoding.decoder.destroy()
  }

  async #next(): Promise<IteratorResult<Buffer, undefined>> {
    try {
      return await this.#pieces.next()
    } catch (error) {
      this.#source.cancel()
      if (error instanceof HttpError) throw error
      const { encoding } = this.#decoding
      const message = `The request body is not valid ${encoding}, as its content-encoding says.`
      throw new GatewayError('malformed_request', message, { param: 'content-encoding', cause: error })
    }
  }

  /** Reads the source as fast as the decoder takes it. Ends with the decoder. */
  async #feed(): Promise<void> {
    const { decoder } = this.#decoding
    try {
      for (let piece = await this.#source.read(); piece !== undefined; piece = await this.#source.read()) {
        if (!(await isWritten(decoder, piece))) return
      }
      decoder.end()
    } catch (error) {
      decoder.destroy(error as Error)
    }
  }
}

/** Resolves when the decoder needs the bytes no longer. False if it has failed or was stopped. */
function isWritten(decoder: Transform, bytes: Uint8Array): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onClose = () => resolve(false)
  decoder.once('close', onClose)
  decoder.write(bytes, error => {
    decoder.off('close', onClose)
    resolve(error === undefined || error === null)
  })
  return promise
}
