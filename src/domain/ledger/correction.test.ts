import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { debiting, OVERDRAWN_MAX, refunding } from './correction.ts'

describe('a debit', () => {
  test('goes to cash', () => {
    expect(debiting(usd('2'), { amount: usd('2'), allowNegative: false })).toEqual([
      { from: 'available', to: 'cash', amount: usd('2') },
    ])
  })

  test('of more than is free needs a permission', () => {
    const debit = (allowNegative: boolean) => debiting(usd('1'), { amount: usd('2'), allowNegative })

    expect(() => debit(false)).toThrow('The account has 1 USD available.')
    expect(debit(true)).toHaveLength(1)
  })

  test('cannot take the balance below the minimum, so that the books cannot overflow', () => {
    const free = usd('1')
    const most = nanoUsd(free + OVERDRAWN_MAX)

    expect(debiting(free, { amount: most, allowNegative: true })).toHaveLength(1)
    expect(() => debiting(free, { amount: nanoUsd(most + 1n), allowNegative: true })).toThrow('the minimum')
  })

  test.each([ZERO, usd('-1')])('of %p is refused', amount => {
    expect(() => debiting(usd('1'), { amount, allowNegative: true })).toThrow(RangeError)
  })
})

describe('a refund', () => {
  test.each([
    ['text', 'revenue.text'],
    ['media', 'revenue.media'],
  ] as const)('of a %s charge comes out of %s', (kind, book) => {
    expect(refunding({ kind, cost: usd('2') }, usd('1'))).toEqual([
      { from: book, to: 'available', amount: usd('1') },
    ])
  })

  test.each([
    ['more than the cost', usd('2'), usd('2.000000001'), 'must be at most 2, the cost of the charge'],
    ['a charge of zero', ZERO, usd('1'), 'nothing to refund'],
    ['zero', usd('2'), ZERO, 'not above zero'],
    ['a negative amount', usd('2'), usd('-1'), 'not above zero'],
  ])('of %s is refused', (_, cost, amount, message) => {
    expect(() => refunding({ kind: 'text', cost }, amount)).toThrow(message)
  })
})
