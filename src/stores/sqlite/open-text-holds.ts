import type { HoldKind } from '../../domain/ledger/books.ts'
import { formatId, idNumber, type Id } from '../../domain/ids.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { Hold } from '../../gateway/ports/ledger.ts'
import type { AccountBooks } from './account-books.ts'

/** A text hold, which is only in memory, with the books of its account. */
export class TextHold implements Hold {
  readonly id: Id
  readonly accountId: number
  readonly kind: HoldKind = 'text'
  readonly amount: NanoUsd
  readonly books: AccountBooks
  isOpen = false
  /** The number of its captures that wait for their commit. */
  capturesWaiting = 0

  constructor({ id, accountId, amount }: Hold, books: AccountBooks) {
    this.id = id
    this.accountId = accountId
    this.amount = amount
    this.books = books
  }
}

/** The open text holds by their ids. The books of their accounts count what they hold. */
export class OpenTextHolds {
  readonly #holds = new Map<bigint, TextHold>()

  /** Undefined if it is not open. Throws a RangeError if the id is of a hold of another account. */
  find({ id, accountId }: Pick<Hold, 'id' | 'accountId'>): TextHold | undefined {
    const found = this.#holds.get(idNumber(id))
    if (found !== undefined && found.accountId !== accountId) throw anotherHold(id)
    return found
  }

  /** The id must not be open. */
  add(hold: TextHold): void {
    this.#holds.set(idNumber(hold.id), hold)
    hold.isOpen = true
    hold.books.heldInMemory = addUsd(hold.books.heldInMemory, hold.amount)
    hold.books.holdsInMemory += 1
  }

  /** The hold must be open. */
  remove(hold: TextHold): void {
    this.#holds.delete(idNumber(hold.id))
    hold.isOpen = false
    hold.books.heldInMemory = subtractUsd(hold.books.heldInMemory, hold.amount)
    hold.books.holdsInMemory -= 1
  }

  /** The amount of all open holds together. */
  sum(): NanoUsd {
    let sum = ZERO
    for (const { amount } of this.#holds.values()) sum = addUsd(sum, amount)
    return sum
  }
}

export function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${formatId('hold', id)} was given to another hold.`)
}
