import { describe, expect, test } from 'bun:test'
import { usd, ZERO } from '../money.ts'
import { EntryFold, type StoredOperation } from './entry-fold.ts'
import type { Entry } from './post.ts'

/** A credit of 5 and a charge of 2, both right. */
const credit = operation(1n, 'top_up', { amount: '5', cost: '0' }, [
  entry('cash', '-5', '-5'),
  entry('available', '5', '5'),
])
const charge = operation(2n, 'charge', { amount: '-2', cost: '2' }, [
  entry('available', '-2', '3'),
  entry('revenue.text', '2', '2'),
])

describe('the fold of the entries', () => {
  test('adds up the balances of each account', () => {
    const fold = folded([credit, charge])

    expect(fold.wrong).toBeUndefined()
    expect({ last: fold.lastOperationId, entries: fold.entries }).toEqual({ last: 2n, entries: 4 })
    expect(fold.balancesOf(1)).toMatchObject({
      available: usd('3'),
      cash: usd('-5'),
      'revenue.text': usd('2'),
    })
    expect(fold.balancesOf(2)).toMatchObject({ available: ZERO })
  })

  test.each<[string, string, readonly StoredOperation[], string]>([
    [
      'an amount',
      '2.1',
      [credit, changed(charge, 0, { amount: usd('-1') })],
      'Entry 2.1 leaves 3000000000 in "available", where 4000000000 is due.',
    ],
    [
      'a balance',
      '1.2',
      [changed(credit, 1, { balanceAfter: usd('6') }), charge],
      'Entry 1.2 leaves 6000000000 in "available", where 5000000000 is due.',
    ],
    [
      'an amount and its balance',
      '2.1',
      [credit, changed(charge, 0, { amount: usd('-1'), balanceAfter: usd('4') })],
      'Entry 2.1 begins operation 2, whose entries sum to 1000000000 and not to zero.',
    ],
    [
      'a book',
      '2.2',
      [credit, changed(charge, 1, { book: 'available' })],
      'Entry 2.2 leaves 2000000000 in "available", where 5000000000 is due.',
    ],
    [
      'another book',
      '2.2',
      [credit, changed(charge, 1, { book: 'losses' })],
      'Entry 2.2 is in "losses", which no charge touches.',
    ],
    [
      'a missing entry',
      '1.1',
      [{ ...credit, entries: credit.entries.slice(0, 1) }, charge],
      'Entry 1.1 begins operation 1, whose entries sum to -5000000000 and not to zero.',
    ],
    [
      'a missing operation',
      '3.1',
      [credit, { ...charge, id: 3n, number: 3 }],
      'Entry 3.1 begins operation 3 of its account, where operation 2 is due.',
    ],
    [
      'a repeated number',
      '2.1',
      [credit, { ...charge, number: 1 }],
      'Entry 2.1 begins operation 1 of its account, where operation 2 is due.',
    ],
    [
      'an operation of another amount',
      '1.1',
      [{ ...credit, amount: usd('4') }, charge],
      'Entry 1.1 begins operation 1, whose entries change the available balance by 5000000000 and not by 4000000000.',
    ],
    [
      'a charge of another cost',
      '2.1',
      [credit, { ...charge, cost: usd('1') }],
      'Entry 2.1 begins operation 2, whose entries earn 2000000000 where the charge is 1000000000.',
    ],
  ])('names the first wrong entry: %s', (_, entryId, operations, message) => {
    const fold = folded(operations)

    expect(fold.wrong).toEqual({ entryId, message })
  })

  test('adds nothing after a wrong entry', () => {
    const fold = folded([changed(credit, 0, { balanceAfter: usd('6') }), charge])

    expect({ last: fold.lastOperationId, entries: fold.entries }).toEqual({ last: 0n, entries: 0 })
    expect(fold.balancesOf(1)).toMatchObject({ available: ZERO })
  })

  test('the ids of operations may have gaps', () => {
    const fold = folded([credit, { ...charge, id: 7n }])

    expect(fold.wrong).toBeUndefined()
    expect(fold.lastOperationId).toBe(7n)
  })

  test('continues where it stopped', () => {
    const fold = folded([credit])

    fold.add(charge)

    expect(fold.wrong).toBeUndefined()
    expect(fold.balancesOf(1)).toMatchObject({ available: usd('3') })
  })
})

function folded(operations: readonly StoredOperation[]): EntryFold {
  const fold = new EntryFold()
  for (const one of operations) fold.add(one)
  return fold
}

function changed(stored: StoredOperation, at: number, change: Partial<Entry>): StoredOperation {
  return { ...stored, entries: stored.entries.with(at, { ...stored.entries[at]!, ...change }) }
}

function operation(
  id: bigint,
  kind: StoredOperation['kind'],
  stated: { readonly amount: string; readonly cost: string },
  entries: readonly Entry[],
): StoredOperation {
  return {
    id,
    number: Number(id),
    accountId: 1,
    kind,
    amount: usd(stated.amount),
    cost: usd(stated.cost),
    entries,
  }
}

function entry(book: Entry['book'], amount: string, balanceAfter: string): Entry {
  return { book, amount: usd(amount), balanceAfter: usd(balanceAfter) }
}
