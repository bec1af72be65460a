type Bytes = Uint8Array<ArrayBuffer>

/** The first block of a stream, which many answers fit into; the next ones are as large as all before them, up to a bound. */
const BLOCK_BYTES_MIN = 4 * 1024
const BLOCK_BYTES_MAX = 32 * 1024
/** What a block weighs beside its bytes. */
const BLOCK_OVERHEAD_BYTES = 128

/** So many bytes of a stream, from the place `start` in it on. */
type Block = { readonly start: number; readonly bytes: Bytes; length: number }

/**
 * The part of a stream that somebody may still ask for: it grows at its end and is forgotten from its start. Pieces are copied
 * into blocks, because a word at a time kept as it came would weigh several times as much, and keep the garbage collector busy.
 */
export class HeldBytes {
  readonly #blocks: Block[] = []
  #end = 0
  #weight = 0

  /** The place in the stream behind the last byte. */
  get end(): number {
    return this.#end
  }

  /** How many bytes are held. */
  get length(): number {
    const [first] = this.#blocks
    return first === undefined ? 0 : this.#end - first.start
  }

  /** How many bytes of memory it takes. */
  get weight(): number {
    return this.#weight
  }

  append(piece: Bytes): void {
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.length + piece.length <= last.bytes.length) {
      last.bytes.set(piece, last.length)
      last.length += piece.length
    } else this.#begin(piece)
    this.#end += piece.length
  }

  /** Goes on behind a piece that nobody will ask for. Nothing may be held. */
  skip(piece: Bytes): void {
    this.#end += piece.length
  }

  /** What is held from a place on, as far as it stands in one block; undefined at the end. */
  from(place: number): Bytes | undefined {
    const block = this.#blocks.findLast(({ start }) => start <= place)
    if (block === undefined || place >= block.start + block.length) return undefined
    return block.bytes.subarray(place - block.start, block.length)
  }

  /** Forgets the blocks that end at a place or before it. */
  forget(place: number): void {
    let count = 0
    for (const { start, bytes, length } of this.#blocks) {
      if (start + length > place) break
      this.#weight -= bytes.length + BLOCK_OVERHEAD_BYTES
      count += 1
    }
    this.#blocks.splice(0, count)
  }

  /** All that is held, in one piece that does not change later. */
  whole(): Bytes {
    const whole = new Uint8Array(this.length)
    let at = 0
    for (const { bytes, length } of this.#blocks) {
      whole.set(length === bytes.length ? bytes : bytes.subarray(0, length), at)
      at += length
    }
    return whole
  }

  #begin(piece: Bytes): void {
    const size = Math.min(Math.max(this.length, BLOCK_BYTES_MIN), BLOCK_BYTES_MAX)
    const bytes = new Uint8Array(Math.max(size, piece.length))
    bytes.set(piece)
    this.#blocks.push({ start: this.#end, bytes, length: piece.length })
    this.#weight += bytes.length + BLOCK_OVERHEAD_BYTES
  }
}
