import { expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { costOfCredits } from './credits.ts'

test.each<[unknown, string]>([
  [50, '0.5'],
  ['50', '0.5'],
  [0, '0'],
  ['0', '0'],
  [0.5, '0.005'],
  // Of a billionth of a credit, the operator pays a nano-USD.
  ['0.000000001', '0.000000001'],
  [0.1 + 0.2, '0.003'],
])('%j credits at 0.01 USD cost %s', (credits, cost) => {
  expect(costOfCredits(credits, { creditUsd: usd('0.01') })).toEqual({ providerCost: usd(cost) })
})

test.each([undefined, null, '', 'ten', -1, '-1', Number.NaN, Infinity, 1e12, {}, true])(
  '%j is not a number of credits, so the cost is not known',
  credits => {
    expect(costOfCredits(credits, { creditUsd: usd('0.01') })).toEqual({})
  },
)

test.each([999_999_999, '999999999999999999'])(
  '%j credits at 1,000,000 USD cost more than any job, so the cost is not known',
  credits => {
    expect(costOfCredits(credits, { creditUsd: usd('1000000') })).toEqual({})
  },
)

test('without the price of a credit the cost is not known', () => {
  expect(costOfCredits(50, {})).toEqual({})
})
