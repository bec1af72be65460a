import type { ByteStream } from '../ports/byte-stream.ts'

type Piece = Uint8Array<ArrayBuffer>

/**
 * Hands bytes from a writer to a reader, one piece at a time. The writer waits until the reader has finished with a
 * piece.
 */
export class Pipe implements ByteStream {
  #piece: Piece | undefined
  #taken: (() => void) | undefined
  #reader: PromiseWithResolvers<Piece | undefined> | undefined
  #state: 'open' | 'ended' | 'cancelled' = 'open'
  #error: unknown

  /** Resolves when the reader asks for the next piece or has stopped. The bytes must not change until then. */
  async write(bytes: Piece): Promise<void> {
    if (this.#state !== 'open' || bytes.length === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#taken = resolve
    if (this.#reader === undefined) this.#piece = bytes
    else this.#give(bytes)
    await promise
  }

  /** No more pieces come. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#give(undefined)
  }

  /** The reader's next read rejects with `error`. */
  fail(error: unknown): void {
    this.#error = error
    this.#state = 'ended'
    const reader = this.#reader
    this.#reader = undefined
    reader?.reject(error)
  }

  async read(): Promise<Piece | undefined> {
    if (this.#error !== undefined) throw this.#error
    const piece = this.#piece
    if (piece !== undefined) {
      this.#piece = undefined
      return piece
    }
    this.#release()
    if (this.#state !== 'open') return undefined
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  cancel(): void {
    this.#state = 'cancelled'
    this.#piece = undefined
    this.#release()
    this.#give(undefined)
  }

  #give(piece: Piece | undefined): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(piece)
  }

  #release(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }
}
