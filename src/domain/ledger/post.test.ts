import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { NO_BALANCES } from './books.ts'
import { post } from './post.ts'

describe('posting', () => {
  test('posting makes one entry for each book, with its change and its balance', () => {
    const before = { ...NO_BALANCES, available: usd('5'), cash: usd('-5') }

    const entries = post(before, [
      { from: 'available', to: 'held.media', amount: usd('3') },
      { from: 'held.media', to: 'revenue.media', amount: usd('1') },
    ])

    expect(entries).toEqual([
      { book: 'available', amount: usd('-3'), balanceAfter: usd('2') },
      { book: 'held.media', amount: usd('2'), balanceAfter: usd('2') },
      { book: 'revenue.media', amount: usd('1'), balanceAfter: usd('1') },
    ])
  })

  test('posting of zero makes no entry', () => {
    expect(post(NO_BALANCES, [{ from: 'available', to: 'revenue.text', amount: ZERO }])).toEqual([])
  })

  test('posting of a negative amount is refused', () => {
    expect(() => post(NO_BALANCES, [{ from: 'cash', to: 'available', amount: usd('-1') }])).toThrow(
      RangeError,
    )
  })

  test.each([
    ['receives', { available: nanoUsd(2n ** 63n - 1n) }],
    ['gives', { cash: nanoUsd(1n - 2n ** 63n) }],
  ])('posting that would pass 64 bits where it %s is refused', (_, extreme) => {
    const balances = { ...NO_BALANCES, ...extreme }

    expect(() => post(balances, [{ from: 'cash', to: 'available', amount: nanoUsd(1n) }])).toThrow('64 bits')
  })
})
