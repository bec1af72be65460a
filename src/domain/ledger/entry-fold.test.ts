import { describe, expect, test } from 'bun:test'
import { usd, ZERO } from '../money.ts'
import { EntryFold, type StoredOperation, type WrongEntry } from './entry-fold.ts'
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
  test('the fold of the entries adds up the balances of each account', () => {
    const { fold, wrong } = folded([credit, charge])

    expect(wrong).toEqual([])
    expect({ operations: fold.operationsOf(1), entries: fold.entries }).toEqual({ operations: 2, entries: 4 })
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
      'leaves 3.00 USD in "available", but 4.00 USD is correct',
    ],
    [
      'a balance',
      '1.2',
      [changed(credit, 1, { balanceAfter: usd('6') }), charge],
      'leaves 6.00 USD in "available", but 5.00 USD is correct',
    ],
    [
      'an amount and its balance',
      '2.1',
      [credit, changed(charge, 0, { amount: usd('-1'), balanceAfter: usd('4') })],
      'begins an operation whose entries add up to 1.00 USD instead of zero',
    ],
    [
      'a book',
      '2.2',
      [credit, changed(charge, 1, { book: 'available' })],
      'leaves 2.00 USD in "available", but 5.00 USD is correct',
    ],
    [
      'another book',
      '2.2',
      [credit, changed(charge, 1, { book: 'losses' })],
      'is in "losses", but a charge does not touch that book',
    ],
    [
      'a missing entry',
      '1.1',
      [{ ...credit, entries: credit.entries.slice(0, 1) }, charge],
      'begins an operation whose entries add up to -5.00 USD instead of zero',
    ],
    [
      'a missing operation',
      '3.1',
      [credit, { ...charge, id: 3n, number: 3 }],
      'begins operation 3 of the account, but operation 2 is next',
    ],
    [
      'a repeated number',
      '2.1',
      [credit, { ...charge, number: 1 }],
      'begins operation 1 of the account, but operation 2 is next',
    ],
    [
      'an operation of another amount',
      '1.1',
      [{ ...credit, amount: usd('4') }, charge],
      'begins an operation that states a change of 4.00 USD, but its entries change the available balance by 5.00 USD',
    ],
    [
      'a charge of another cost',
      '2.1',
      [credit, { ...charge, cost: usd('1.5') }],
      'begins an operation that earns 2.00 USD, but its charge is 1.50 USD',
    ],
  ])('the fold of the entries finds the first wrong entry: %s', (_, entryId, operations, problem) => {
    const { wrong } = folded(operations)

    expect(wrong).toMatchObject([{ entryId, problem }])
  })

  test('the fold of the entries adds nothing to an account after its wrong entry', () => {
    const { fold } = folded([changed(credit, 0, { balanceAfter: usd('6') }), charge])

    expect(fold.entries).toBe(0)
    expect(fold.isWrong(1)).toBe(true)
    expect(fold.balancesOf(1)).toMatchObject({ 'revenue.text': ZERO })
  })

  test('the fold of the entries continues with other accounts after a wrong entry', () => {
    const other = { ...credit, id: 3n, accountId: 2 }
    const wrongOther = { ...charge, id: 4n, accountId: 2, number: 7 }

    const { fold, wrong } = folded([changed(credit, 0, { amount: usd('1') }), charge, other, wrongOther])

    expect(wrong.map(({ entryId }) => entryId)).toEqual(['1.1', '4.1'])
    expect(fold.balancesOf(2)).toMatchObject({ available: usd('5') })
    expect(fold.accountIds).toEqual([1, 2])
  })

  test('the fold of the entries adds nothing to an account that was marked wrong', () => {
    const { fold } = folded([credit])

    fold.markWrong(1)
    const wrong = fold.add(charge)

    expect(wrong).toBeUndefined()
    expect(fold.balancesOf(1)).toMatchObject({ available: usd('5') })
  })

  test('the fold of the entries accepts gaps in the ids of operations', () => {
    const { wrong } = folded([credit, { ...charge, id: 7n }])

    expect(wrong).toEqual([])
  })
})

function folded(operations: readonly StoredOperation[]) {
  const fold = new EntryFold()
  const wrong: WrongEntry[] = []
  for (const one of operations) {
    const found = fold.add(one)
    if (found !== undefined) wrong.push(found)
  }
  return { fold, wrong }
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
  const { amount, cost } = stated
  return { id, number: Number(id), accountId: 1, kind, amount: usd(amount), cost: usd(cost), entries }
}

function entry(book: Entry['book'], amount: string, balanceAfter: string): Entry {
  return { book, amount: usd(amount), balanceAfter: usd(balanceAfter) }
}
