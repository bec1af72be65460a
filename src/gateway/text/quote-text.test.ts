import { describe, expect, test } from 'bun:test'
import type { TextModel } from '../../domain/catalog/model.ts'
import { nanoUsd, usd, ZERO } from '../../domain/money.ts'
import type { TextPricing } from '../../domain/pricing/tariff.ts'
import { NO_USAGE, type Usage } from '../../domain/pricing/usage.ts'
import type { TextRequest } from '../../protocol/text-dialect.ts'
import { affordableCeiling, priceText, quoteText } from './quote-text.ts'

/** A thousandth of a dollar a token in, two a token out, a cent a request. */
const TARIFF = { input: usd('1000'), output: usd('2000'), perRequest: usd('0.01') }
const tariff: TextPricing = { kind: 'tariff', tariff: TARIFF }
const free: TextPricing = { kind: 'free' }
const upstreamCost: TextPricing = {
  kind: 'upstream_cost',
  markupBillionths: 1_500_000_000n,
  ceiling: TARIFF,
}

function aModel(pricing: TextPricing, kind: 'chat' | 'embedding' = 'chat'): TextModel {
  const common = {
    id: 'm',
    enabled: true,
    displayName: 'M',
    description: '',
    ownedBy: 'system',
    upstreams: [],
    pricing,
    createdAtMs: 0,
  }
  return kind === 'chat' ? { ...common, kind, maxOutputTokens: 100 } : { ...common, kind }
}

function aRequest(change: Partial<TextRequest> = {}): TextRequest {
  return {
    model: 'm',
    isStream: false,
    outputCeiling: undefined,
    choices: 1,
    inputTokensEstimate: 10,
    input: () => ({ texts: [], tokens: 0 }),
    ...change,
  }
}

const quote = (pricing: TextPricing, change?: Partial<TextRequest>) =>
  quoteText(aModel(pricing), aRequest(change))

describe('the worst case of', () => {
  test.each([
    ['a request without a ceiling is priced with the row’s', tariff, {}, '0.22'],
    ['a request with a ceiling, with its own', tariff, { outputCeiling: 5 }, '0.03'],
    ['a request with a ceiling above the row’s, with its own', tariff, { outputCeiling: 1000 }, '2.02'],
    ['several choices, with the ceiling of each', tariff, { outputCeiling: 5, choices: 3 }, '0.05'],
    ['a row at the upstream’s own cost, with its ceiling tariff', upstreamCost, {}, '0.22'],
    ['a free row is nothing', free, {}, '0'],
    [
      'input of unknown length, for a row that does not say what its model reads, with 128,000 tokens',
      tariff,
      { inputTokensEstimate: Infinity },
      '128.21',
    ],
  ])('%s', (_, pricing, change, amount) => {
    expect(quote(pricing, change).amount).toBe(usd(amount))
  })

  test('no more input is priced than the model reads, also where nobody knows how much there is', () => {
    const model = { ...aModel(tariff), contextWindow: 1000 }
    const amount = (inputTokensEstimate: number) => quoteText(model, aRequest({ inputTokensEstimate })).amount

    expect(amount(10)).toBe(usd('0.22'))
    expect(amount(2000)).toBe(usd('1.21'))
    expect(amount(Infinity)).toBe(usd('1.21'))
  })

  test('of texts that are read one by one, each may be as long as the model reads', () => {
    const model = { ...aModel(tariff), contextWindow: 1000 }
    const amount = (separateInputs: number) =>
      quoteText(model, aRequest({ inputTokensEstimate: 2500, separateInputs })).amount

    expect([1, 2, 3].map(amount)).toEqual([usd('1.21'), usd('2.21'), usd('2.71')])
  })

  test('an embedding has no output', () => {
    expect(quoteText(aModel(tariff, 'embedding'), aRequest()).amount).toBe(usd('0.02'))
  })
})

describe('the ceiling that a balance would pay for', () => {
  test.each([
    ['is what is left after the input and the request', tariff, {}, '0.03', 5],
    ['is rounded down', tariff, {}, '0.031999999', 5],
    ['is that of each choice', tariff, { choices: 2 }, '0.04', 5],
    ['is never more than was asked for', tariff, { outputCeiling: 3 }, '5', 3],
    ['is none where not one token would fit', tariff, {}, '0.021999999', undefined],
    ['is none below zero', tariff, {}, '-1', undefined],
    ['is that of the ceiling tariff', upstreamCost, {}, '0.03', 5],
    ['is none for a free row', free, {}, '0', undefined],
  ])('%s', (_, pricing, change, available, ceiling) => {
    expect(affordableCeiling(quote(pricing, change), usd(available))).toBe(ceiling)
  })
})

describe('the price of', () => {
  const used = (usage: Partial<Usage>, change = {}) => ({
    usage: { ...NO_USAGE, ...usage },
    provenance: 'reported' as const,
    isClamped: false,
    ...change,
  })

  test('a reported usage is exact, also above the worst case', () => {
    const price = priceText(quote(tariff), used({ input: 1000, output: 1 }), null)

    expect(price).toMatchObject({ cost: usd('1.012'), tariff: TARIFF, isClamped: false })
  })

  test('a free row is nothing', () => {
    const price = priceText(quote(free), used({ input: 9 }), usd('7'))

    expect(price).toMatchObject({ cost: ZERO, tariff: null, isCostUnreported: false })
  })

  test.each([
    ['times the markup', '0.1', '0.15', false],
    ['rounded up to a billionth', '0.000000001', '0.000000002', false],
    ['cut to the worst case', '1', '0.22', true],
    ['no less than nothing', '-1', '0', true],
  ])('a row at the upstream’s own cost is that cost, %s', (_, reported, cost, isClamped) => {
    const price = priceText(quote(upstreamCost), used({ input: 1 }), usd(reported))

    expect(price).toMatchObject({ cost: usd(cost), tariff: null, isClamped })
  })

  test('a row at the upstream’s own cost is nothing where that is not reported, and says so', () => {
    const price = priceText(quote(upstreamCost), used({ input: 1 }), null)

    expect(price).toMatchObject({ cost: ZERO, isCostUnreported: true })
  })

  test('a clamped usage stays clamped', () => {
    for (const pricing of [tariff, free, upstreamCost]) {
      const price = priceText(quote(pricing), used({ input: 1 }, { isClamped: true }), nanoUsd(1n))
      expect(price.isClamped).toBe(true)
    }
  })
})
