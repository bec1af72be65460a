import type { HoldKind } from '../../domain/ledger/books.ts'
import { formatId, idNumber, type Id } from '../../domain/ids.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { Hold } from '../../gateway/ports/ledger.ts'
import type { AccountBooks } from './account-books.ts'

/** A text hold, which is only in memory, with the books of its account. */
export class TextHold implements Hold {
  readonly id: Id
  /** The id as one number. It is kept because making it costs more than finding the hold by it. */
  readonly number: bigint
  readonly accountId: number
  readonly kind: HoldKind = 'text'
  readonly amount: NanoUsd
  readonly books: AccountBooks
  /** The node that placed it. */
  readonly owner: bigint
  /** On the monotonic clock. */
  expiresAtMs: number
  /** After it expired, a hold is kept until its request ends, so that the request can still be charged. */
  state: 'open' | 'expired' | 'ended' = 'ended'
  /** The number of its captures that wait for their commit. */
  capturesWaiting = 0

  constructor(
    { id, accountId, amount }: Hold,
    of: { readonly books: AccountBooks; readonly owner: bigint; readonly expiresAtMs: number },
  ) {
    this.id = id
    this.number = idNumber(id)
    this.accountId = accountId
    this.amount = amount
    this.books = of.books
    this.owner = of.owner
    this.expiresAtMs = of.expiresAtMs
  }
}

/** The text holds that have not ended, by their ids. The books of their accounts count what they hold. */
export class OpenTextHolds {
  readonly #holds = new Map<bigint, TextHold>()

  /** Undefined if it has ended. Throws a RangeError if the id is of a hold of another account. */
  find(hold: Pick<Hold, 'id' | 'accountId'>): TextHold | undefined {
    const found = this.#holds.get(hold instanceof TextHold ? hold.number : idNumber(hold.id))
    if (found !== undefined && found.accountId !== hold.accountId) throw anotherHold(hold.id)
    return found
  }

  /** Adds an ended hold in another state. Its id must not be in use. */
  add(hold: TextHold, state: 'open' | 'expired' = 'open'): void {
    this.#holds.set(hold.number, hold)
    hold.state = state
    hold.books.holdsInMemory += 1
    if (state === 'open') hold.books.heldInMemory = addUsd(hold.books.heldInMemory, hold.amount)
  }

  /** Frees the money of an open hold and keeps the hold. */
  expire(hold: TextHold): void {
    hold.state = 'expired'
    hold.books.heldInMemory = subtractUsd(hold.books.heldInMemory, hold.amount)
  }

  /** The hold must not have ended. */
  remove(hold: TextHold): void {
    this.#holds.delete(hold.number)
    if (hold.state === 'open') hold.books.heldInMemory = subtractUsd(hold.books.heldInMemory, hold.amount)
    hold.books.holdsInMemory -= 1
    hold.state = 'ended'
  }

  /** The open holds. */
  *open(): Generator<TextHold> {
    for (const hold of this.#holds.values()) if (hold.state === 'open') yield hold
  }

  /** The holds of an owner that have not ended. */
  of(owner: bigint): readonly TextHold[] {
    return [...this.#holds.values()].filter(hold => hold.owner === owner)
  }

  /** The amount of all open holds together. */
  sum(): NanoUsd {
    let sum = ZERO
    for (const { amount } of this.open()) sum = addUsd(sum, amount)
    return sum
  }
}

export function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${formatId('hold', id)} was given to another hold.`)
}
