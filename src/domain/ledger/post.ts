import { addUsd, nanoUsd, type NanoUsd } from '../money.ts'
import type { Balances, Book } from './books.ts'

/** Moves money from one book to another. */
export type Movement = { readonly from: Book; readonly to: Book; readonly amount: NanoUsd }

/** The change of one book by an operation. */
export type Entry = {
  readonly book: Book
  /** Negative where money left the book. */
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
}

/** Stores keep a balance in 64 bits. */
const BALANCE_MAX = 2n ** 63n - 1n
const BALANCE_MIN = -BALANCE_MAX

/**
 * The entries of some movements, one for each book that they touch. A movement of zero makes no entry. Throws a
 * RangeError for a negative amount and for a balance beyond 64 bits (about 9.2 billion dollars).
 */
export function post(balances: Balances, movements: readonly Movement[]): readonly Entry[] {
  const entries: Entry[] = []
  for (const { from, to, amount } of movements) {
    if (amount < 0n) throw new RangeError(`A movement from "${from}" to "${to}" of ${amount} is negative.`)
    if (amount === 0n) continue
    enter(entries, balances, from, nanoUsd(0n - amount))
    enter(entries, balances, to, amount)
  }
  return entries
}

function enter(entries: Entry[], balances: Balances, book: Book, change: NanoUsd): void {
  let place = 0
  while (place < entries.length && entries[place]?.book !== book) place += 1
  const earlier = entries[place]
  const balanceAfter = addUsd(earlier?.balanceAfter ?? balances[book], change)
  if (balanceAfter > BALANCE_MAX || balanceAfter < BALANCE_MIN)
    throw new RangeError(`A balance of ${balanceAfter} in "${book}" would exceed 64 bits.`)
  const amount = earlier === undefined ? change : addUsd(earlier.amount, change)
  entries[place] = { book, amount, balanceAfter }
}
