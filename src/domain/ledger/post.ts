import { addUsd, nanoUsd, type NanoUsd } from '../money.ts'
import type { Balances, Book } from './books.ts'

/** Takes money out of one book and puts it into another: all that ever happens to money. */
export type Movement = { readonly from: Book; readonly to: Book; readonly amount: NanoUsd }

/** What an operation did to one book, as it stands there for ever. */
export type Entry = {
  readonly book: Book
  /** Negative where money left the book. */
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
}

/** Every store keeps a balance in 64 bits. */
const BALANCE_MAX = 2n ** 63n - 1n
const BALANCE_MIN = -BALANCE_MAX

/**
 * The entries that movements make, one for each book they touch, and the balances after them. A movement of nothing makes no
 * entry. Throws a RangeError for a negative amount and where a balance would pass 64 bits (about 9.2 billion dollars).
 */
export function post(
  balances: Balances,
  movements: readonly Movement[],
): { readonly entries: readonly Entry[]; readonly balances: Balances } {
  const after = { ...balances }
  const entries: Entry[] = []
  for (const { from, to, amount } of movements) {
    if (amount < 0n) throw new RangeError(`A movement from "${from}" to "${to}" of ${amount} is negative.`)
    if (amount === 0n) continue
    change(after, entries, from, nanoUsd(0n - amount))
    change(after, entries, to, amount)
  }
  return { entries, balances: after }
}

function change(balances: Record<Book, NanoUsd>, entries: Entry[], book: Book, change: NanoUsd): void {
  const balanceAfter = nanoUsd(balances[book] + change)
  if (balanceAfter > BALANCE_MAX || balanceAfter < BALANCE_MIN)
    throw new RangeError(`A balance of ${balanceAfter} in "${book}" would pass 64 bits.`)
  balances[book] = balanceAfter
  for (let at = 0; at < entries.length; at += 1) {
    const earlier = entries[at]
    if (earlier?.book !== book) continue
    entries[at] = { book, amount: addUsd(earlier.amount, change), balanceAfter }
    return
  }
  entries.push({ book, amount: change, balanceAfter })
}
