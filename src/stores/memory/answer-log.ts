import type { KeptAnswer, LocalFingerprint, ReplayBudget } from '../../gateway/ports/requests/replays.ts'

/** Bytes since the first record ever. It only grows, so it never identifies two records. */
export type RecordOffset = number

/** The unit in which memory is allocated and freed. No record is larger. */
export const SLAB_BYTES = 1 << 20
/**
 * How many free slabs are reused. They do not count in the budget. The kernel needs longer to clear a new slab than we
 * need to fill it.
 */
const SPARE_SLABS_MAX = 4

// A record begins at a multiple of 8 bytes. Its head has these fields as doubles,
const EXPIRES_AT_MS = 0
const API_KEY_ID = 1
// these as 64-bit integers,
const ID_KEY = 10
const ID_TAIL = 11
// and these as 32-bit words. The content type, the end user and the body follow the head.
const SIZE = 4
const ROUTE = 5
const TYPE_BYTES = 6
const MODEL = 7
const BODY_BYTES = 8
const USER_BYTES = 24
const HEAD_BYTES = 104
/** Where the digest is in the head: SHA-256 in base64. */
const DIGEST_AT = 36
const DIGEST_BYTES = 44

const decoder = new TextDecoder()

/**
 * Stores answers in the order they came, in a few large slabs of memory, so that the garbage collector has no work with
 * tens of thousands of answers. Each record has its fingerprint, so that an index can forget a record that is dropped.
 */
export class AnswerLog {
  readonly #budget: ReplayBudget
  readonly #slabs: Slab[] = []
  readonly #spareSlabs: Slab[] = []
  /** The routes and models, of which there are few. A record stores the index of each in this list. */
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()
  /** The number of the first slab that is in use. */
  #firstSlab = 0
  #oldest: RecordOffset = 0
  #end: RecordOffset = 0

  /** The memory of the records is taken from `budget`. */
  constructor(budget: ReplayBudget) {
    this.#budget = budget
  }

  /** The position of the oldest record, or of the next one if there is none. Everything before it was dropped. */
  get oldest(): RecordOffset {
    return this.#oldest
  }

  get isEmpty(): boolean {
    return this.#oldest === this.#end
  }

  /** Undefined if the budget has no room or the record is larger than a slab. Then nothing is written. */
  append(
    fingerprint: LocalFingerprint,
    { first, contentType, model, body }: KeptAnswer,
    expiresAtMs: number,
  ): RecordOffset | undefined {
    // Under overload the budget is full most of the time. This check is cheaper than measuring the record.
    if (!this.#budget.take(body.length)) return undefined
    this.#budget.give(body.length)
    const typeBytes = Buffer.byteLength(contentType)
    const userBytes = Buffer.byteLength(first.userId ?? '')
    const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const size = aligned(HEAD_BYTES + typeBytes + userBytes + bodyBytes)
    if (size > SLAB_BYTES) return undefined
    const left = SLAB_BYTES - (this.#end % SLAB_BYTES)
    const position = size <= left ? this.#end : this.#end + left
    if (!this.#budget.take(position + size - this.#end)) return undefined

    if (this.isEmpty) this.#drop(position)
    else if (position !== this.#end) this.#endSlab(left)
    this.#end = position + size
    const { bytes, words, doubles, integers } = this.#slabOf(position)
    const at = position % SLAB_BYTES
    doubles[at / 8 + EXPIRES_AT_MS] = expiresAtMs
    doubles[at / 8 + API_KEY_ID] = fingerprint.apiKeyId
    integers[at / 8 + ID_KEY] = first.id.key
    integers[at / 8 + ID_TAIL] = first.id.tail
    words[at / 4 + SIZE] = size
    words[at / 4 + ROUTE] = this.#numberOf(fingerprint.route)
    words[at / 4 + TYPE_BYTES] = typeBytes
    words[at / 4 + MODEL] = this.#numberOf(model)
    words[at / 4 + BODY_BYTES] = bodyBytes
    words[at / 4 + USER_BYTES] = userBytes
    bytes.write(fingerprint.digest, at + DIGEST_AT, 'latin1')
    bytes.write(contentType, at + HEAD_BYTES)
    const userAt = at + HEAD_BYTES + typeBytes
    if (first.userId !== undefined) bytes.write(first.userId, userAt)
    if (typeof body === 'string') bytes.write(body, userAt + userBytes)
    else bytes.set(body, userAt + userBytes)
    return position
  }

  /** Drops the oldest record. */
  dropOldest(): void {
    const next = this.#oldest + this.#word(this.#oldest, SIZE)
    const left = SLAB_BYTES - (next % SLAB_BYTES)
    const isSlabOver = next !== this.#end && (left < HEAD_BYTES || this.#word(next, SIZE) === 0)
    this.#drop(isSlabOver ? next + left : next)
  }

  expiresAtMs(position: RecordOffset): number {
    return this.#double(position, EXPIRES_AT_MS)
  }

  fingerprint(position: RecordOffset): LocalFingerprint {
    const digestAt = (position % SLAB_BYTES) + DIGEST_AT
    return {
      apiKeyId: this.#double(position, API_KEY_ID),
      route: this.#name(position, ROUTE),
      digest: this.#slabOf(position).bytes.toString('latin1', digestAt, digestAt + DIGEST_BYTES),
    }
  }

  /** Returns a copy, because the record may be dropped before the reader is done. */
  answer(position: RecordOffset): KeptAnswer {
    const { bytes, integers } = this.#slabOf(position)
    const idAt = (position % SLAB_BYTES) / 8
    const typeAt = (position % SLAB_BYTES) + HEAD_BYTES
    const userAt = typeAt + this.#word(position, TYPE_BYTES)
    const bodyAt = userAt + this.#word(position, USER_BYTES)
    const bodyEnd = bodyAt + this.#word(position, BODY_BYTES)
    const id = { key: integers[idAt + ID_KEY] ?? 0n, tail: integers[idAt + ID_TAIL] ?? 0n }
    const userId = userAt === bodyAt ? {} : { userId: decoder.decode(bytes.subarray(userAt, bodyAt)) }
    return {
      first: { id, ...userId },
      contentType: decoder.decode(bytes.subarray(typeAt, userAt)),
      model: this.#name(position, MODEL),
      body: new Uint8Array(bytes.subarray(bodyAt, bodyEnd)),
    }
  }

  #numberOf(name: string): number {
    let number = this.#numbers.get(name)
    if (number === undefined) this.#numbers.set(name, (number = this.#names.push(name) - 1))
    return number
  }

  #name(position: RecordOffset, field: number): string {
    return this.#names[this.#word(position, field)] ?? ''
  }

  #word(position: RecordOffset, field: number): number {
    return this.#slabOf(position).words[(position % SLAB_BYTES) / 4 + field] ?? 0
  }

  #double(position: RecordOffset, field: number): number {
    return this.#slabOf(position).doubles[(position % SLAB_BYTES) / 8 + field] ?? 0
  }

  /** Marks the end of a slab with a record of size 0, if there is room for its head. */
  #endSlab(left: number): void {
    if (left >= HEAD_BYTES) this.#slabOf(this.#end).words[(this.#end % SLAB_BYTES) / 4 + SIZE] = 0
  }

  #drop(oldest: RecordOffset): void {
    this.#budget.give(oldest - this.#oldest)
    this.#oldest = oldest
    const slab = Math.floor(oldest / SLAB_BYTES)
    if (slab === this.#firstSlab) return
    const gone = this.#slabs.splice(0, slab - this.#firstSlab)
    this.#spareSlabs.push(...gone.slice(0, SPARE_SLABS_MAX - this.#spareSlabs.length))
    this.#firstSlab = slab
  }

  #slabOf(position: RecordOffset): Slab {
    const index = Math.floor(position / SLAB_BYTES) - this.#firstSlab
    return this.#slabs[index] ?? this.#nextSlab()
  }

  #nextSlab(): Slab {
    const slab = this.#spareSlabs.pop() ?? freshSlab()
    this.#slabs.push(slab)
    return slab
  }
}

/** The same memory as bytes, words, doubles and 64-bit integers. */
type Slab = {
  readonly bytes: Buffer
  readonly words: Int32Array
  readonly doubles: Float64Array
  readonly integers: BigInt64Array
}

function freshSlab(): Slab {
  const buffer = new ArrayBuffer(SLAB_BYTES)
  return {
    bytes: Buffer.from(buffer),
    words: new Int32Array(buffer),
    doubles: new Float64Array(buffer),
    integers: new BigInt64Array(buffer),
  }
}

function aligned(size: number): number {
  return Math.ceil(size / 8) * 8
}

/** A budget of `bytesMax` bytes. */
export function replayBudget(bytesMax: number): ReplayBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
    get taken() {
      return taken
    },
  }
}
