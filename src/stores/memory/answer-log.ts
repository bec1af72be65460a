import type { KeptAnswer, ReplayBudget } from '../../gateway/ports/replays.ts'

/** Counted in bytes from the first record ever, so that it always grows and never names two records. */
export type Position = number

/** Memory is taken and given back by this much. No record is larger. */
export const SLAB_BYTES = 1 << 20

/** What a record says beside its answer. */
export type AnswerKey = {
  readonly fingerprint: string
  readonly hash: number
  readonly expiresAtMs: number
  /** The position of another record, or -1. */
  readonly earlier: Position
}

/** Where a record has its numbers; behind them are the fingerprint, what else is said of the answer as JSON, and the body. */
const EARLIER = 0
const EXPIRES_AT_MS = 8
const HASH = 16
const SIZE = 20
const FINGERPRINT_BYTES = 24
const ABOUT_BYTES = 28
const HEAD_BYTES = 32

const decoder = new TextDecoder()

/**
 * Answers one behind the other in the order they came, in a few large pieces of memory: the garbage collector, to which ten
 * thousands of them would be a lot of work, never sees one. A record says where another begins, which makes chains of them.
 */
export class AnswerLog {
  readonly #budget: ReplayBudget
  readonly #slabs: Slab[] = []
  /** The number of the first slab that is still there. */
  #firstSlab = 0
  #oldest: Position = 0
  #end: Position = 0

  /** What it takes up is taken from `budget`. */
  constructor(budget: ReplayBudget) {
    this.#budget = budget
  }

  /** The position of the oldest record; that of the next one where there is none. What comes before it is gone. */
  get oldest(): Position {
    return this.#oldest
  }

  get isEmpty(): boolean {
    return this.#oldest === this.#end
  }

  /** Undefined, and nothing written, where the budget does not allow it or the record is larger than a slab. */
  append(key: AnswerKey, { body, ...about }: KeptAnswer): Position | undefined {
    // Under more load than it is made for, the budget is full most of the time, and nothing needs to be measured.
    if (!this.#budget.take(body.length)) return undefined
    this.#budget.give(body.length)
    const said = JSON.stringify(about)
    const nameLength = Buffer.byteLength(key.fingerprint)
    const aboutLength = Buffer.byteLength(said)
    const bodyLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const size = HEAD_BYTES + nameLength + aboutLength + bodyLength
    if (size > SLAB_BYTES) return undefined
    const left = SLAB_BYTES - (this.#end % SLAB_BYTES)
    const position = size <= left ? this.#end : this.#end + left
    if (!this.#budget.take(position + size - this.#end)) return undefined

    if (this.isEmpty) this.#drop(position)
    this.#end = position + size
    const { bytes, view } = this.#slabOf(position)
    const at = position % SLAB_BYTES
    view.setFloat64(at + EARLIER, key.earlier)
    view.setFloat64(at + EXPIRES_AT_MS, key.expiresAtMs)
    view.setInt32(at + HASH, key.hash)
    view.setInt32(at + SIZE, size)
    view.setInt32(at + FINGERPRINT_BYTES, nameLength)
    view.setInt32(at + ABOUT_BYTES, aboutLength)
    bytes.write(key.fingerprint, at + HEAD_BYTES)
    bytes.write(said, at + HEAD_BYTES + nameLength)
    if (typeof body === 'string') bytes.write(body, at + size - bodyLength)
    else bytes.set(body, at + size - bodyLength)
    return position
  }

  /** Gives back the memory of the oldest record. */
  dropOldest(): void {
    const next = this.#oldest + this.#number(this.#oldest, SIZE)
    const left = SLAB_BYTES - (next % SLAB_BYTES)
    const isSlabOver = next !== this.#end && (left < HEAD_BYTES || this.#number(next, SIZE) === 0)
    this.#drop(isSlabOver ? next + left : next)
  }

  earlierThan(position: Position): Position {
    return this.#slabOf(position).view.getFloat64((position % SLAB_BYTES) + EARLIER)
  }

  expiresAtMs(position: Position): number {
    return this.#slabOf(position).view.getFloat64((position % SLAB_BYTES) + EXPIRES_AT_MS)
  }

  isOf(position: Position, fingerprint: string, hash: number): boolean {
    if (this.#number(position, HASH) !== hash) return false
    const from = (position % SLAB_BYTES) + HEAD_BYTES
    const name = this.#slabOf(position).bytes.subarray(from, from + this.#number(position, FINGERPRINT_BYTES))
    return decoder.decode(name) === fingerprint
  }

  /** A copy: the record may be gone before its reader is done. */
  answer(position: Position): KeptAnswer {
    const { bytes } = this.#slabOf(position)
    const at = position % SLAB_BYTES
    const aboutAt = at + HEAD_BYTES + this.#number(position, FINGERPRINT_BYTES)
    const bodyAt = aboutAt + this.#number(position, ABOUT_BYTES)
    return {
      ...(JSON.parse(decoder.decode(bytes.subarray(aboutAt, bodyAt))) as Omit<KeptAnswer, 'body'>),
      body: new Uint8Array(bytes.subarray(bodyAt, at + this.#number(position, SIZE))),
    }
  }

  #number(position: Position, field: number): number {
    return this.#slabOf(position).view.getInt32((position % SLAB_BYTES) + field)
  }

  #drop(oldest: Position): void {
    this.#budget.give(oldest - this.#oldest)
    this.#oldest = oldest
    const slab = Math.floor(oldest / SLAB_BYTES)
    if (slab === this.#firstSlab) return
    this.#slabs.splice(0, slab - this.#firstSlab)
    this.#firstSlab = slab
  }

  #slabOf(position: Position): Slab {
    const index = Math.floor(position / SLAB_BYTES) - this.#firstSlab
    return this.#slabs[index] ?? this.#nextSlab()
  }

  /** Fresh, and so all zeros: where no record begins, its size reads as 0. */
  #nextSlab(): Slab {
    const buffer = new ArrayBuffer(SLAB_BYTES)
    const slab = { bytes: Buffer.from(buffer), view: new DataView(buffer) }
    this.#slabs.push(slab)
    return slab
  }
}

type Slab = { readonly bytes: Buffer; readonly view: DataView }
