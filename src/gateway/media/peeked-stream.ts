import type { ByteStream } from '../ports/byte-stream.ts'

type Piece = Uint8Array<ArrayBuffer>

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
