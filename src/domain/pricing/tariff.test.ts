import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyTariff } from '../../../test/support/any-catalog.ts'
import { nanoUsd, usd } from '../money.ts'
import { chargeForTokens } from './charge.ts'
import type { TextTariff } from './tariff.ts'
import { NO_USAGE, type Usage } from './usage.ts'
import { affordableOutputTokens, worstCasePrice } from './worst-case.ts'

/** Like the prices of a model whose long inputs cost twice as much. Cached input keeps its price. */
const tariff: TextTariff = {
  input: usd('1'),
  cachedInput: usd('0.5'),
  output: usd('10'),
  tiers: [
    { aboveInputTokens: 200_000, prices: { input: usd('2'), output: usd('15') } },
    { aboveInputTokens: 500_000, prices: { input: usd('4'), perRequest: usd('1') } },
  ],
}

describe('a charge with tiers has the prices of', () => {
  test.each<[string, Partial<Usage>, string]>([
    ['the tariff up to the first tier', { input: 200_000, output: 1000 }, '0.21'],
    ['the first tier for all tokens one token later', { input: 200_001, output: 1000 }, '0.415002'],
    ['the first tier because of cached input', { input: 100_000, cachedInput: 100_001 }, '0.2500005'],
    [
      'the first tier because of audio and cache writes',
      { audioInput: 100_000, cacheWrite: 100_001 },
      '0.400002',
    ],
    ['the first tier up to the second', { input: 500_000 }, '1'],
    [
      'the second tier, whose other prices are those of the tariff',
      { input: 500_001, output: 1000 },
      '3.010004',
    ],
    ['the tariff whatever the output is', { input: 1, output: 1_000_000 }, '10.000001'],
  ])('a charge with tiers has the prices of %s', (_, usage, cost) => {
    expect(chargeForTokens({ ...NO_USAGE, ...usage }, tariff)).toBe(usd(cost))
  })
})

describe('a worst case with tiers has', () => {
  test.each([
    ['the prices of the tariff, if the input cannot reach a tier', 200_000, '0.21'],
    ['the prices of the first tier, if the input can reach it', 200_001, '0.415002'],
    ['the highest price for the input', 500_001, '3.010004'],
  ])('a worst case with tiers has %s', (_, inputTokens, amount) => {
    expect(worstCasePrice({ inputTokens, outputTokens: 1000, choices: 1 }, tariff)).toBe(usd(amount))
  })

  test('a worst case with tiers has the price of the tariff if its tiers are cheaper', () => {
    const cheaper = { ...tariff, tiers: [{ aboveInputTokens: 10, prices: { input: usd('0.1') } }] }

    expect(worstCasePrice({ inputTokens: 1_000_000, outputTokens: 0, choices: 1 }, cheaper)).toBe(usd('1'))
  })
})

test('a charge within the worst case never costs more than it, with any tiers', () => {
  const price = fc.bigInt(0n, 10n ** 12n)
  const count = fc.nat(1000)
  const tiers = fc
    .uniqueArray(fc.record({ aboveInputTokens: fc.nat(3000), prices: anyTariff(price) }), {
      selector: ({ aboveInputTokens }) => aboveInputTokens,
      maxLength: 3,
    })
    .map(list => list.toSorted((left, right) => left.aboveInputTokens - right.aboveInputTokens))
  fc.assert(
    fc.property(anyTariff(price), tiers, fc.tuple(count, count, count, count), (base, list, counts) => {
      const [input, cachedInput, output, more] = counts
      const tiered = { ...base, tiers: list }
      const usage = { ...NO_USAGE, input, cachedInput, output }
      const worst = { inputTokens: input + cachedInput + more, outputTokens: output, choices: 1 }

      expect(chargeForTokens(usage, tiered)).toBeLessThanOrEqual(worstCasePrice(worst, tiered))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['0.400016', undefined],
  ['0.415', 999],
  ['0.415002', 1000],
  ['0.5', 1000],
])('with %s USD, the affordable output ceiling of a request that reaches a tier is %p', (budget, ceiling) => {
  const worst = { inputTokens: 200_001, outputTokens: 1000, choices: 1 }

  expect(affordableOutputTokens(worst, tariff, usd(budget))).toBe(ceiling)
})

test('free output in one tier does not make output free', () => {
  const mixed = {
    ...tariff,
    output: usd('0'),
    tiers: [{ aboveInputTokens: 1, prices: { output: usd('1') } }],
  }
  const worst = { inputTokens: 10, outputTokens: 100, choices: 1 }

  expect(affordableOutputTokens(worst, mixed, nanoUsd(60_000n))).toBe(50)
  expect(affordableOutputTokens(worst, mixed, nanoUsd(10_000n))).toBeUndefined()
})
