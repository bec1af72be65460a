import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { debiting, OVERDRAWN_MAX, refunding } from './correction.ts'

describe('a debit', () => {
  test('a debit goes to cash', () => {
    expect(debiting(usd('2'), { amount: usd('2'), allowNegative: false })).toEqual([
      { from: 'available', to: 'cash', amount: usd('2') },
    ])
  })

  test('a debit of more than is free needs a permission', () => {
    const debit = (allowNegative: boolean) => debiting(usd('1'), { amount: usd('2'), allowNegative })

    expect(() => debit(false)).toThrow('The account has 1 USD available.')
    expect(debit(true)).toHaveLength(1)
  })

  test('a debit cannot take the balance below the minimum, so that the books cannot overflow', () => {
    const free = usd('1')
    const most = nanoUsd(free + OVERDRAWN_MAX)

    expect(debiting(free, { amount: most, allowNegative: true })).toHaveLength(1)
    expect(() => debiting(free, { amount: nanoUsd(most + 1n), allowNegative: true })).toThrow('the minimum')
  })

  test.each([ZERO, usd('-1')])('a debit of %p is refused', amount => {
    expect(() => debiting(usd('1'), { amount, allowNegative: true })).toThrow(RangeError)
  })
})

describe('a refund', () => {
  const charge = { kind: 'text', cost: usd('2'), refunded: ZERO } as const
  const part = (amount: string) => ({ amount: usd(amount), idempotencyKey: 'fix-1' })

  test.each([
    ['text', 'revenue.text'],
    ['media', 'revenue.media'],
  ] as const)('a refund of a %s charge comes out of %s', (kind, book) => {
    expect(refunding({ ...charge, kind }, part('1'))).toEqual([
      { from: book, to: 'available', amount: usd('1') },
    ])
  })

  test.each([
    ['more than the cost', usd('2'), usd('2.000000001'), 'must be at most 2, the cost of the charge'],
    ['a charge of zero', ZERO, usd('1'), 'nothing to refund'],
    ['zero', usd('2'), ZERO, 'not above zero'],
    ['a negative amount', usd('2'), usd('-1'), 'not above zero'],
  ])('a refund of %s is refused', (_, cost, amount, message) => {
    expect(() => refunding({ ...charge, cost }, { ...part('1'), amount })).toThrow(message)
  })

  test('a refund of a part needs an idempotency key, and a full one does not', () => {
    expect(() => refunding(charge, { amount: usd('1.999999999') })).toThrow(
      'A refund of a part of a charge needs an "Idempotency-Key" header',
    )
    expect(refunding(charge, { amount: usd('2') })).toHaveLength(1)
  })

  test('a refund is at most what earlier refunds left, and the refusal says how much that is', () => {
    const refunded = { ...charge, refunded: usd('0.5') }

    expect(refunding(refunded, part('1.5'))).toHaveLength(1)
    expect(() => refunding(refunded, part('1.500000001'))).toThrow(
      '0.5 USD of this charge of 2 USD was given back before. Set "amount_usd" to at most 1.5, which is left.',
    )
    expect(() => refunding(refunded, { amount: usd('2') })).toThrow('at most 1.5')
    expect(() => refunding({ ...charge, refunded: usd('2') }, part('1'))).toThrow(
      'Nothing is left to refund.',
    )
  })
})
