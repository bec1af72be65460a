import type { HoldKind } from '../../domain/ledger/books.ts'
import type { Id } from '../../domain/ids.ts'
import { addUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { Hold } from '../../gateway/ports/ledger.ts'
import type { AccountBooks } from './account-books.ts'

/** As many holds at once have a bucket each. */
const BUCKETS = 1 << 12

const key = new BigInt64Array(1)
const halves = new Int32Array(key.buffer)

/** A hold that is only remembered, beside the books of its account. */
export class OpenHold implements Hold {
  readonly id: Id
  readonly accountId: number
  readonly kind: HoldKind
  readonly amount: NanoUsd
  readonly books: AccountBooks
  /** How many captures of it wait for their turn. */
  capturesWaiting = 0
  isOpen = false
  /** Its bucket, and another hold there; for `OpenHolds` alone. */
  readonly bucket: number
  before: OpenHold | undefined

  constructor({ id, accountId, kind, amount }: Hold, books: AccountBooks) {
    this.id = id
    this.accountId = accountId
    this.kind = kind
    this.amount = amount
    this.books = books
    this.bucket = bucketOf(id.key)
  }
}

/**
 * The open holds, by the keys of their ids. A `Map` that gets and loses an entry with every request rebuilds itself again and
 * again, and hashes a bigint each time that it is asked.
 */
export class OpenHolds {
  /** The last hold of each bucket, which names the one before it. */
  readonly #last = Array.from<OpenHold | undefined>({ length: BUCKETS })
  #size = 0

  get size(): number {
    return this.#size
  }

  find(idKey: bigint): OpenHold | undefined {
    let hold = this.#last[bucketOf(idKey)]
    while (hold !== undefined && hold.id.key !== idKey) hold = hold.before
    return hold
  }

  /** One of this id may not be open. */
  add(hold: OpenHold): void {
    hold.before = this.#last[hold.bucket]
    this.#last[hold.bucket] = hold
    hold.isOpen = true
    this.#size += 1
  }

  /** It must be open. */
  remove(hold: OpenHold): void {
    let next = this.#last[hold.bucket]
    if (next === hold) this.#last[hold.bucket] = hold.before
    for (; next !== undefined; next = next.before) if (next.before === hold) next.before = hold.before
    hold.before = undefined
    hold.isOpen = false
    this.#size -= 1
  }

  /** What all of them come to. */
  sum(): NanoUsd {
    let sum = ZERO
    for (const last of this.#last)
      for (let hold = last; hold !== undefined; hold = hold.before) sum = addUsd(sum, hold.amount)
    return sum
  }
}

/** Keys grow with time in their upper bits and one by one in their lowest, so both tell them apart. */
function bucketOf(idKey: bigint): number {
  key[0] = idKey
  const low = halves[0] ?? 0
  return (low ^ (low >>> 13)) & (BUCKETS - 1)
}
