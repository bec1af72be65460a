import type { ReplayBudget } from '../ports/requests/replays.ts'
import type { Bytes } from '../../domain/bytes.ts'

/** The size of a block: room for a few dozen chunks of a usual stream. A larger piece gets a larger block. */
const BLOCK_BYTES = 8 * 1024
/**
 * How many free blocks are reused. The kernel needs more time to provide new memory than the gateway needs to fill it.
 */
const SPARE_BLOCKS_MAX = 512
/** The memory of a block besides its bytes. */
const BLOCK_OVERHEAD_BYTES = 128

const spareBlocks: Bytes[] = []
/** The memory for the results of `whole`. */
let scratch: Bytes = new Uint8Array(0)

/** Some bytes of the stream, from the position `start`. */
type Block = { readonly start: number; readonly bytes: Bytes; length: number }

/**
 * The part of a stream that may still be read. It grows at its end and is dropped from its start. Pieces are copied
 * into blocks, because thousands of small pieces would need several times the memory and much work of the garbage
 * collector. The memory is taken from a budget.
 */
export class StreamBuffer {
  readonly #budget: ReplayBudget
  readonly #blocks: Block[] = []
  #end = 0
  /** The memory of the blocks, and how much of it was taken from the budget. */
  #weight = 0
  #taken = 0

  constructor(budget: ReplayBudget) {
    this.#budget = budget
  }

  /** The position in the stream after the last byte. */
  get end(): number {
    return this.#end
  }

  /** The number of bytes in the buffer. */
  get length(): number {
    const first = this.#blocks[0]
    return first === undefined ? 0 : this.#end - first.start
  }

  /** Whether the budget had room for all of the buffer. */
  get isWithinBudget(): boolean {
    return this.#taken >= this.#weight
  }

  append(piece: Bytes): void {
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.length + piece.length <= last.bytes.length) {
      last.bytes.set(piece, last.length)
      last.length += piece.length
    } else this.#addBlock(piece)
    this.#end += piece.length
    this.#pay()
  }

  /** A copy of the bytes from a position to the end of their block; undefined at the end of the stream. */
  from(position: number): Bytes | undefined {
    if (position === this.#end) return undefined
    const block = this.#blocks.findLast(({ start }) => start <= position)
    return block?.bytes.slice(position - block.start, block.length)
  }

  /** Drops the blocks that end at or before a position. */
  dropBefore(position: number): void {
    let count = 0
    for (const { start, bytes, length } of this.#blocks) {
      if (start + length > position) break
      this.#weight -= bytes.length + BLOCK_OVERHEAD_BYTES
      if (bytes.length === BLOCK_BYTES && spareBlocks.length < SPARE_BLOCKS_MAX) spareBlocks.push(bytes)
      count += 1
    }
    this.#blocks.splice(0, count)
    this.#pay()
  }

  /** All bytes in one piece. It is valid until this is called for any buffer. */
  whole(): Bytes {
    if (scratch.length < this.length) scratch = new Uint8Array(this.length)
    let at = 0
    for (const { bytes, length } of this.#blocks) {
      scratch.set(length === bytes.length ? bytes : bytes.subarray(0, length), at)
      at += length
    }
    return scratch.subarray(0, at)
  }

  #addBlock(piece: Bytes): void {
    const bytes =
      piece.length > BLOCK_BYTES
        ? new Uint8Array(piece.length)
        : (spareBlocks.pop() ?? new Uint8Array(BLOCK_BYTES))
    bytes.set(piece)
    this.#blocks.push({ start: this.#end, bytes, length: piece.length })
    this.#weight += bytes.length + BLOCK_OVERHEAD_BYTES
  }

  /** Takes what the buffer lacks from the budget if there is room, or gives back what it no longer needs. */
  #pay(): void {
    const owed = this.#weight - this.#taken
    if (owed < 0) this.#budget.give(-owed)
    if (owed <= 0 || this.#budget.take(owed)) this.#taken = this.#weight
  }
}
