import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { NO_BALANCES } from './books.ts'
import { CREDITED_MAX, crediting } from './credit.ts'

describe('a credit', () => {
  test.each(['cash', 'promotions'] as const)('a credit comes out of %s', source => {
    const movements = crediting(NO_BALANCES, { amount: usd('1'), source })

    expect(movements).toEqual([{ from: source, to: 'available', amount: usd('1') }])
  })

  test.each([ZERO, usd('-1')])('a credit of %p is refused', amount => {
    expect(() => crediting(NO_BALANCES, { amount, source: 'cash' })).toThrow(RangeError)
  })

  test('a credit is refused if the sum of all credits would exceed the maximum, however much was spent', () => {
    const balances = {
      ...NO_BALANCES,
      cash: nanoUsd(1n - CREDITED_MAX),
      'revenue.text': nanoUsd(CREDITED_MAX - 1n),
    }

    const last = crediting(balances, { amount: nanoUsd(1n), source: 'cash' })

    expect(last).toHaveLength(1)
    expect(() => crediting(balances, { amount: nanoUsd(2n), source: 'promotions' })).toThrow(
      'would exceed 4611686018.427387904 USD',
    )
  })
})
