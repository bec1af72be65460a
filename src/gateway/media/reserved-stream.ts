import type { Reservation } from '../byte-budgets/byte-budget.ts'
import type { ByteStream } from '../ports/byte-stream.ts'

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

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
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
