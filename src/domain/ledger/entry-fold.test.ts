import { describe, expect, test } from 'bun:test'
import { usd, ZERO } from '../money.ts'
import { EntryFold, type StoredEntry } from './entry-fold.ts'
import type { OperationKind } from './operation.ts'

/** A credit of 5 and a charge of 2, right in all. */
const right: readonly StoredEntry[] = [
  entry(1n, 1n, 'cash', '-5', '-5', { kind: 'top_up', amount: '5', cost: '0' }),
  entry(2n, 1n, 'available', '5', '5', { kind: 'top_up', amount: '5', cost: '0' }),
  entry(3n, 2n, 'available', '-2', '3', { kind: 'charge', amount: '-2', cost: '2' }),
  entry(4n, 2n, 'revenue.text', '2', '2', { kind: 'charge', amount: '-2', cost: '2' }),
]

describe('the fold of the entries', () => {
  test('comes to the balances of each account', () => {
    const fold = folded(right)

    expect(fold.wrong).toBeUndefined()
    expect(fold.lastEntryId).toBe(4n)
    expect(fold.balancesOf(1)).toMatchObject({
      available: usd('3'),
      cash: usd('-5'),
      'revenue.text': usd('2'),
    })
    expect(fold.balancesOf(2)).toMatchObject({ available: ZERO })
  })

  test.each([
    [
      'an amount',
      3n,
      changed(3n, { amount: usd('-1') }),
      'Entry 3 leaves 3000000000 in "available", where 4000000000 is due.',
    ],
    [
      'a balance',
      2n,
      changed(2n, { balanceAfter: usd('6') }),
      'Entry 2 leaves 6000000000 in "available", where 5000000000 is due.',
    ],
    [
      'an amount and its balance',
      3n,
      changed(3n, { amount: usd('-1'), balanceAfter: usd('4') }),
      'Entry 3 begins operation 2, whose entries sum to 1000000000 and not to zero.',
    ],
    [
      'a book',
      4n,
      changed(4n, { book: 'available' }),
      'Entry 4 leaves 2000000000 in "available", where 5000000000 is due.',
    ],
    [
      'another book',
      4n,
      changed(4n, { book: 'losses' }),
      'Entry 4 stands in "losses", which no charge touches.',
    ],
    [
      'an operation that is not there',
      3n,
      changed(3n, { operation: null }),
      'Entry 3 belongs to operation 2, which does not exist.',
    ],
    ['a missing entry', 2n, right.filter(({ id }) => id !== 2n), 'Entry 2 is missing.'],
    [
      'a missing operation',
      3n,
      right.map(one => (one.id > 2n ? { ...one, operationId: 3n } : one)),
      'Entry 3 belongs to operation 3, where those of operation 2 should stand.',
    ],
    [
      'a charge of another cost',
      3n,
      right.map(one =>
        one.id > 2n ? { ...one, operation: summary({ kind: 'charge', amount: '-2', cost: '1' }) } : one,
      ),
      'Entry 3 begins operation 2, whose entries earn 2000000000 where the charge is 1000000000.',
    ],
    [
      'an operation of another amount',
      1n,
      right.map(one =>
        one.id < 3n ? { ...one, operation: summary({ kind: 'top_up', amount: '4', cost: '0' }) } : one,
      ),
      'Entry 1 begins operation 1, whose entries change the available balance by 5000000000 and not by 4000000000.',
    ],
  ])('names the first wrong entry: %s', (_, entryId, entries, message) => {
    const fold = folded(entries)

    expect(fold.wrong).toEqual({ entryId, message })
  })

  test('folds nothing behind a wrong entry', () => {
    const fold = folded(changed(2n, { balanceAfter: usd('6') }))

    expect(fold.lastEntryId).toBe(1n)
    expect(fold.balancesOf(1)).toMatchObject({ available: ZERO })
  })

  test('goes on where it stopped', () => {
    const fold = folded(right.slice(0, 2))

    for (const later of right.slice(2)) fold.add(later)
    fold.end()

    expect(fold.wrong).toBeUndefined()
    expect(fold.balancesOf(1)).toMatchObject({ available: usd('3') })
  })
})

function folded(entries: readonly StoredEntry[]): EntryFold {
  const fold = new EntryFold()
  for (const one of entries) fold.add(one)
  fold.end()
  return fold
}

function changed(id: bigint, change: Partial<StoredEntry>): readonly StoredEntry[] {
  const at = Number(id) - 1
  return right.with(at, { ...right[at]!, ...change })
}

function entry(
  id: bigint,
  operationId: bigint,
  book: StoredEntry['book'],
  amount: string,
  balanceAfter: string,
  operation: Parameters<typeof summary>[0],
): StoredEntry {
  return {
    id,
    operationId,
    book,
    amount: usd(amount),
    balanceAfter: usd(balanceAfter),
    operation: summary(operation),
  }
}

function summary(operation: {
  readonly kind: OperationKind
  readonly amount: string
  readonly cost: string
}) {
  return { accountId: 1, kind: operation.kind, amount: usd(operation.amount), cost: usd(operation.cost) }
}
