import type { Fingerprint, KeptAnswer, ReplayBudget } from '../../gateway/ports/replays.ts'

/** Counted in bytes from the first record ever, so that it always grows and never names two records. */
export type Position = number

/** Memory is taken and given back by this much. No record is larger. */
export const SLAB_BYTES = 1 << 20
/** Slabs that are kept for the next records, beside the budget: the kernel takes longer to clear fresh memory than we to fill it. */
const SPARE_SLABS_MAX = 4

/** What a record says beside its fingerprint and its answer. */
export type RecordTerms = {
  readonly expiresAtMs: number
  /** The position of another record, or -1. */
  readonly earlier: Position
}

/** Records begin where a double may stand. Its numbers stand first: these as doubles, */
const EARLIER = 0
const EXPIRES_AT_MS = 1
const API_KEY_ID = 2
/** and these as words. Behind them are the headers as JSON, the model and the body. */
const SIZE = 6
const ROUTE = 7
const HEADERS_BYTES = 8
const MODEL_BYTES = 9
const BODY_BYTES = 10
const DIGEST = 11
const DIGEST_WORDS = 8
const HEAD_BYTES = 80

const decoder = new TextDecoder()

/**
 * Answers one behind the other in the order they came, in a few large pieces of memory: the garbage collector, to which ten
 * thousands of them would be a lot of work, never sees one. A record says where another begins, which makes chains of them.
 */
export class AnswerLog {
  readonly #budget: ReplayBudget
  readonly #slabs: Slab[] = []
  readonly #spareSlabs: Slab[] = []
  /** A record has the number of its route. */
  readonly #routes: string[] = []
  #headers = { written: {} as KeptAnswer['headers'], text: Buffer.from('{}') }
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
  append(
    fingerprint: Fingerprint,
    { expiresAtMs, earlier }: RecordTerms,
    { headers, model = '', body }: KeptAnswer,
  ): Position | undefined {
    // Under more load than it is made for, the budget is full most of the time, and nothing needs to be measured.
    if (!this.#budget.take(body.length)) return undefined
    this.#budget.give(body.length)
    const headersText = this.#textOf(headers)
    const modelBytes = Buffer.byteLength(model)
    const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const size = aligned(HEAD_BYTES + headersText.length + modelBytes + bodyBytes)
    if (size > SLAB_BYTES) return undefined
    const left = SLAB_BYTES - (this.#end % SLAB_BYTES)
    const position = size <= left ? this.#end : this.#end + left
    if (!this.#budget.take(position + size - this.#end)) return undefined

    if (this.isEmpty) this.#drop(position)
    else if (position !== this.#end) this.#endSlab(left)
    this.#end = position + size
    const { bytes, words, doubles } = this.#slabOf(position)
    const at = position % SLAB_BYTES
    doubles[at / 8 + EARLIER] = earlier
    doubles[at / 8 + EXPIRES_AT_MS] = expiresAtMs
    doubles[at / 8 + API_KEY_ID] = fingerprint.apiKeyId
    words[at / 4 + SIZE] = size
    words[at / 4 + ROUTE] = this.#numberOf(fingerprint.route)
    words[at / 4 + HEADERS_BYTES] = headersText.length
    words[at / 4 + MODEL_BYTES] = modelBytes
    words[at / 4 + BODY_BYTES] = bodyBytes
    words.set(fingerprint.digest, at / 4 + DIGEST)
    const modelAt = at + HEAD_BYTES + headersText.length
    bytes.set(headersText, at + HEAD_BYTES)
    bytes.write(model, modelAt)
    if (typeof body === 'string') bytes.write(body, modelAt + modelBytes)
    else bytes.set(body, modelAt + modelBytes)
    return position
  }

  /** Gives back the memory of the oldest record. */
  dropOldest(): void {
    const next = this.#oldest + this.#word(this.#oldest, SIZE)
    const left = SLAB_BYTES - (next % SLAB_BYTES)
    const isSlabOver = next !== this.#end && (left < HEAD_BYTES || this.#word(next, SIZE) === 0)
    this.#drop(isSlabOver ? next + left : next)
  }

  earlierThan(position: Position): Position {
    return this.#double(position, EARLIER)
  }

  expiresAtMs(position: Position): number {
    return this.#double(position, EXPIRES_AT_MS)
  }

  isOf(position: Position, { apiKeyId, route, digest }: Fingerprint): boolean {
    const { words } = this.#slabOf(position)
    const digestAt = (position % SLAB_BYTES) / 4 + DIGEST
    for (let index = 0; index < DIGEST_WORDS; index += 1)
      if (words[digestAt + index] !== digest[index]) return false
    return (
      this.#double(position, API_KEY_ID) === apiKeyId && this.#routes[this.#word(position, ROUTE)] === route
    )
  }

  /** A copy: the record may be gone before its reader is done. */
  answer(position: Position): KeptAnswer {
    const { bytes } = this.#slabOf(position)
    const headersAt = (position % SLAB_BYTES) + HEAD_BYTES
    const modelAt = headersAt + this.#word(position, HEADERS_BYTES)
    const bodyAt = modelAt + this.#word(position, MODEL_BYTES)
    const bodyEnd = bodyAt + this.#word(position, BODY_BYTES)
    const headers = JSON.parse(decoder.decode(bytes.subarray(headersAt, modelAt))) as KeptAnswer['headers']
    const model = modelAt === bodyAt ? undefined : decoder.decode(bytes.subarray(modelAt, bodyAt))
    return { headers, model, body: new Uint8Array(bytes.subarray(bodyAt, bodyEnd)) }
  }

  /** Written out anew only where they are not those of the last answer. */
  #textOf(headers: KeptAnswer['headers']): Buffer {
    if (headers !== this.#headers.written)
      this.#headers = { written: headers, text: Buffer.from(JSON.stringify(headers)) }
    return this.#headers.text
  }

  #numberOf(route: string): number {
    const number = this.#routes.indexOf(route)
    return number < 0 ? this.#routes.push(route) - 1 : number
  }

  #word(position: Position, field: number): number {
    return this.#slabOf(position).words[(position % SLAB_BYTES) / 4 + field] ?? 0
  }

  #double(position: Position, field: number): number {
    return this.#slabOf(position).doubles[(position % SLAB_BYTES) / 8 + field] ?? 0
  }

  /** A record of no size says that there is no further one in the slab, where there would be room for one to say so. */
  #endSlab(left: number): void {
    if (left >= HEAD_BYTES) this.#slabOf(this.#end).words[(this.#end % SLAB_BYTES) / 4 + SIZE] = 0
  }

  #drop(oldest: Position): void {
    this.#budget.give(oldest - this.#oldest)
    this.#oldest = oldest
    const slab = Math.floor(oldest / SLAB_BYTES)
    if (slab === this.#firstSlab) return
    const gone = this.#slabs.splice(0, slab - this.#firstSlab)
    this.#spareSlabs.push(...gone.slice(0, SPARE_SLABS_MAX - this.#spareSlabs.length))
    this.#firstSlab = slab
  }

  #slabOf(position: Position): Slab {
    const index = Math.floor(position / SLAB_BYTES) - this.#firstSlab
    return this.#slabs[index] ?? this.#nextSlab()
  }

  #nextSlab(): Slab {
    const slab = this.#spareSlabs.pop() ?? freshSlab()
    this.#slabs.push(slab)
    return slab
  }
}

/** The same memory as bytes, words and doubles. */
type Slab = { readonly bytes: Buffer; readonly words: Int32Array; readonly doubles: Float64Array }

function freshSlab(): Slab {
  const buffer = new ArrayBuffer(SLAB_BYTES)
  return { bytes: Buffer.from(buffer), words: new Int32Array(buffer), doubles: new Float64Array(buffer) }
}

function aligned(size: number): number {
  return Math.ceil(size / 8) * 8
}
