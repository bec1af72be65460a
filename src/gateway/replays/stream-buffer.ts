type Bytes = Uint8Array<ArrayBuffer>

/** A few dozen tokens as upstreams wrap them. A larger piece is a block of its own. */
const BLOCK_BYTES = 8 * 1024
/** Blocks that are kept for the streams that follow: fresh memory costs the kernel more than all that is done with a block. */
const SPARE_BLOCKS_MAX = 512
/** What a block weighs beside its bytes. */
const BLOCK_OVERHEAD_BYTES = 128

const spareBlocks: Bytes[] = []
/** Where `whole` puts together what it gives. */
let scratch: Bytes = new Uint8Array(0)

/** So many bytes of a stream, from the place `start` in it on. */
type Block = { readonly start: number; readonly bytes: Bytes; length: number }

/**
 * The part of a stream that somebody may still ask for: it grows at its end and is forgotten from its start. Pieces are copied
 * into blocks, because a word at a time kept as it came would weigh several times as much, and keep the garbage collector busy.
 */
export class StreamBuffer {
  readonly #blocks: Block[] = []
  #end = 0
  #weight = 0

  /** The place in the stream behind the last byte. */
  get end(): number {
    return this.#end
  }

  /** How many bytes are held. */
  get length(): number {
    const first = this.#blocks[0]
    return first === undefined ? 0 : this.#end - first.start
  }

  /** How many bytes of memory it takes. */
  get weight(): number {
    return this.#weight
  }

  append(piece: Bytes): void {
    const last = this.#blocks[this.#blocks.length - 1]
    if (last !== undefined && last.length + piece.length <= last.bytes.length) {
      last.bytes.set(piece, last.length)
      last.length += piece.length
    } else this.#begin(piece)
    this.#end += piece.length
  }

  /** A copy of what is held from a place on, as far as it stands in one block; undefined at the end. */
  from(place: number): Bytes | undefined {
    if (place === this.#end) return undefined
    const block = this.#blocks.findLast(({ start }) => start <= place)
    return block?.bytes.slice(place - block.start, block.length)
  }

  /** Forgets the blocks that end at a place or before it. */
  forget(place: number): void {
    let count = 0
    for (const { start, bytes, length } of this.#blocks) {
      if (start + length > place) break
      this.#weight -= bytes.length + BLOCK_OVERHEAD_BYTES
      if (bytes.length === BLOCK_BYTES && spareBlocks.length < SPARE_BLOCKS_MAX) spareBlocks.push(bytes)
      count += 1
    }
    this.#blocks.splice(0, count)
  }

  /** All that is held, in one piece that is there until somebody asks for the whole of any stream again. */
  whole(): Bytes {
    if (scratch.length < this.length) scratch = new Uint8Array(this.length)
    let at = 0
    for (const { bytes, length } of this.#blocks) {
      scratch.set(length === bytes.length ? bytes : bytes.subarray(0, length), at)
      at += length
    }
    return scratch.subarray(0, at)
  }

  #begin(piece: Bytes): void {
    const bytes =
      piece.length > BLOCK_BYTES
        ? new Uint8Array(piece.length)
        : (spareBlocks.pop() ?? new Uint8Array(BLOCK_BYTES))
    bytes.set(piece)
    this.#blocks.push({ start: this.#end, bytes, length: piece.length })
    this.#weight += bytes.length + BLOCK_OVERHEAD_BYTES
  }
}
