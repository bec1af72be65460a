import { describe, expect, test } from 'bun:test'
import {
  TARIFF,
  tariff,
  free,
  upstreamCost,
  aModel,
  aRequest,
  quote,
} from '../../../test/support/text-quotes.ts'
import { aDestination } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { FACTOR_ONE } from '../../domain/pricing/service-tiers.ts'
import type { TextPricing } from '../../domain/pricing/tariff.ts'
import { affordableCeiling, quoteText } from './quote-text.ts'

describe('the worst case of', () => {
  test.each([
    ['a request without an output ceiling uses the ceiling of the row', tariff, {}, '0.22'],
    ['a request with an output ceiling uses it', tariff, { outputCeiling: 5 }, '0.03'],
    [
      'a request with an output ceiling above that of the row uses that of the row',
      tariff,
      { outputCeiling: 1000 },
      '0.22',
    ],
    ['several choices counts the output ceiling for each', tariff, { outputCeiling: 5, choices: 3 }, '0.05'],
    ['a row that charges the upstream’s own cost uses its ceiling tariff', upstreamCost, {}, '0.22'],
    ['a free row is 0', free, {}, '0'],
    [
      'input of unknown length, without a context window, is 128,000 tokens',
      tariff,
      { inputTokensEstimate: Infinity },
      '128.21',
    ],
  ])('the worst case of %s', (_, pricing, change, amount) => {
    expect(quote(pricing, change).amount).toBe(usd(amount))
  })

  test('the worst case of input beyond the context window is the context window, also for input of unknown length', () => {
    const model = { ...aModel(tariff), contextWindow: 1000 }
    const amount = (inputTokensEstimate: number) => quoteText(model, aRequest({ inputTokensEstimate })).amount

    expect(amount(10)).toBe(usd('0.22'))
    expect(amount(2000)).toBe(usd('1.21'))
    expect(amount(Infinity)).toBe(usd('1.21'))
  })

  test('the worst case of separate inputs is up to one context window for each', () => {
    const model = { ...aModel(tariff), contextWindow: 1000 }
    const amount = (separateInputs: number) =>
      quoteText(model, aRequest({ inputTokensEstimate: 2500, separateInputs })).amount

    expect([1, 2, 3].map(amount)).toEqual([usd('1.21'), usd('2.21'), usd('2.71')])
  })

  test('the worst case of an embedding has no output part', () => {
    expect(quoteText(aModel(tariff, 'embedding'), aRequest()).amount).toBe(usd('0.02'))
  })
})

describe('the service tier that is held', () => {
  const tiered: TextPricing = {
    kind: 'tariff',
    tariff: { ...TARIFF, serviceTiers: { priority: 2n * FACTOR_ONE } },
  }
  const rule = { path: 'service_tier', steps: ['service_tier'], allowed: ['default'] }
  const open = aDestination('open')
  const standard = { provider: { ...open.provider, refuseFields: [rule] } }

  test.each([
    ['is the dearest one that one of its upstreams may serve', [standard, open], 2n],
    ['is the standard one if no upstream may serve another', [standard, standard], 1n],
  ])('the service tier that is held %s', (_, upstreams, factor) => {
    const { worst } = quoteText(aModel(tiered), aRequest(), upstreams)

    expect(worst.tierFactor).toBe(factor * FACTOR_ONE)
  })
})

describe('the output ceiling that a balance can pay for', () => {
  test.each([
    ['uses what remains after the input and the request fee', tariff, {}, '0.03', 5],
    ['is rounded down', tariff, {}, '0.031999999', 5],
    ['is for each choice', tariff, { choices: 2 }, '0.04', 5],
    ['is never more than the request asks for', tariff, { outputCeiling: 3 }, '5', 3],
    ['is undefined if it cannot pay for one token', tariff, {}, '0.021999999', undefined],
    ['is undefined for a negative balance', tariff, {}, '-1', undefined],
    ['uses the ceiling tariff', upstreamCost, {}, '0.03', 5],
    ['is undefined for a free row', free, {}, '0', undefined],
  ])('the output ceiling that a balance can pay for %s', (_, pricing, change, available, ceiling) => {
    expect(affordableCeiling(quote(pricing, change), usd(available))).toBe(ceiling)
  })
})
