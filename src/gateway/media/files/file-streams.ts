import type { Bytes } from '../../../domain/bytes.ts'
import type { Reservation } from '../../byte-budgets/byte-budget.ts'
import type { ByteStream } from '../../ports/byte-stream.ts'

type Piece = Bytes

/** A stream whose first bytes can be looked at before it is read. */
export class PeekedStream implements ByteStream {
  readonly #source: ByteStream
  #head: Piece | undefined

  private constructor(source: ByteStream, head: Piece) {
    this.#source = source
    this.#head = head.length === 0 ? undefined : head
  }

  /** Reads at least `bytes` bytes ahead, or fewer if the source ends before. */
  static async open(source: ByteStream, bytes: number): Promise<{ stream: PeekedStream; head: Uint8Array }> {
    const pieces: Piece[] = []
    let length = 0
    while (length < bytes) {
      const piece = await source.read()
      if (piece === undefined) break
      // It is valid only until the next read.
      pieces.push(piece.slice())
      length += piece.length
    }
    const head = new Uint8Array(length)
    let at = 0
    for (const piece of pieces) {
      head.set(piece, at)
      at += piece.length
    }
    return { stream: new PeekedStream(source, head), head }
  }

  async read(): Promise<Piece | undefined> {
    const head = this.#head
    this.#head = undefined
    return head ?? this.#source.read()
  }

  cancel(): void {
    this.#head = undefined
    this.#source.cancel()
  }
}

/** A stream whose bytes reserve space while they are read. It ends early if there is no space. */
export class ReservedStream implements ByteStream {
  readonly #source: ByteStream
  readonly #space: Reservation
  /** Whether it ended early. */
  isCut = false

  constructor(source: ByteStream, space: Reservation) {
    this.#source = source
    this.#space = space
  }

  async read(): Promise<Bytes | undefined> {
    const bytes = await this.#source.read()
    if (bytes === undefined || (await this.#hasSpaceFor(bytes))) return bytes
    this.isCut = true
    this.#source.cancel()
    return undefined
  }

  cancel(): void {
    this.#source.cancel()
  }

  async #hasSpaceFor({ length }: Uint8Array): Promise<boolean> {
    if (this.#space.tryTake(length)) return true
    return this.#space.take(length).then(
      () => true,
      () => false,
    )
  }
}

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
