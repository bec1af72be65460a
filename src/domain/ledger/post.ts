import { nanoUsd, type NanoUsd } from '../money.ts'
import type { Balances, Book } from './books.ts'

/** Takes money out of one book and puts it into another: all that ever happens to money. */
export type Movement = { readonly from: Book; readonly to: Book; readonly amount: NanoUsd }

/** One leg of a movement, as it stands in the books for ever. */
export type Entry = {
  readonly book: Book
  /** Negative where money left the book. */
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
}

/** Every store keeps a balance in 64 bits. */
const BALANCE_MAX = 2n ** 63n - 1n

/**
 * The entries that movements make, in order, and the balances after them. A movement of nothing makes no entry. Throws a
 * RangeError for a negative amount and where a balance would pass 64 bits (about 9.2 billion dollars).
 */
export function post(
  balances: Balances,
  movements: readonly Movement[],
): { readonly entries: readonly Entry[]; readonly balances: Balances } {
  const after = { ...balances }
  const entries: Entry[] = []
  const change = (book: Book, amount: NanoUsd) => {
    const balanceAfter = nanoUsd(after[book] + amount)
    if (balanceAfter > BALANCE_MAX || balanceAfter < -BALANCE_MAX)
      throw new RangeError(`A balance of ${balanceAfter} in "${book}" would pass 64 bits.`)
    after[book] = balanceAfter
    entries.push({ book, amount, balanceAfter })
  }
  for (const { from, to, amount } of movements) {
    if (amount < 0n) throw new RangeError(`A movement from "${from}" to "${to}" of ${amount} is negative.`)
    if (amount === 0n) continue
    change(from, nanoUsd(0n - amount))
    change(to, amount)
  }
  return { entries, balances: after }
}
