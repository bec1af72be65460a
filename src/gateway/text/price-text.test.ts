import { describe, expect, test } from 'bun:test'
import {
  TARIFF,
  tariff,
  free,
  upstreamCost,
  aModel,
  aRequest,
  featuresOfTier,
  quote,
} from '../../../test/support/text-quotes.ts'
import { usd, ZERO } from '../../domain/money.ts'
import { parseExactUsd, type ExactUsd } from '../../domain/pricing/exact-usd.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import { NO_USAGE, type Usage } from '../../domain/pricing/usage.ts'
import { priceInterrupted, priceText, usageLimits, type ProviderBill } from './price-text.ts'
import { quoteText } from './quote-text.ts'

const exact = (cost: string) => parseExactUsd(cost)!

describe('the largest usage that is believed', () => {
  test.each([
    ['has the output ceiling of the row for a request without one', {}, 100],
    ['has the output ceiling of the request', { outputCeiling: 5 }, 5],
    ['has the output ceiling of the row for a request above it', { outputCeiling: 1000 }, 100],
    ['counts the output ceiling for each choice', { outputCeiling: 5, choices: 3 }, 15],
  ])('the largest usage that is believed %s', (_, change, outputTokensMax) => {
    const limits = usageLimits({ model: aModel(tariff), quote: quote(tariff, change) })

    expect(limits).toEqual({ inputTokensMax: undefined, outputTokensMax })
  })

  test('the largest usage that is believed has the context window as its input, and no output ceiling for an embedding', () => {
    const model = { ...aModel(tariff, 'embedding'), contextWindow: 1000 }
    const limits = usageLimits({ model, quote: quoteText(model, aRequest({ separateInputs: 2 })) })

    expect(limits).toEqual({ inputTokensMax: 2000, outputTokensMax: undefined })
  })
})

const used = (usage: Partial<Usage>, change = {}) => ({
  usage: { ...NO_USAGE, ...usage },
  provenance: 'reported' as const,
  isClamped: false,
  ...change,
})

function bill(reported: ExactUsd | null, prices?: TextTariff): ProviderBill {
  return { reported, prices }
}

describe('the price of', () => {
  test('the price of a reported usage is exact, even above the worst case', () => {
    const price = priceText(quote(tariff), used({ input: 1000, output: 1 }), bill(null))

    expect(price).toMatchObject({ cost: usd('1.012'), tariff: TARIFF, isClamped: false })
  })

  test('the price of a free row is 0', () => {
    const price = priceText(quote(free), used({ input: 9 }), bill(exact('7')))

    expect(price).toMatchObject({ cost: ZERO, tariff: null, isCostUnreported: false })
  })

  test.each([
    ['multiplied by the markup', '0.1', '0.15', false],
    ['rounded up to a billionth', '0.000000001', '0.000000002', false],
    ['rounded only after the markup', '0.0000000041', '0.000000007', false],
    ['limited to the worst case', '1', '0.22', true],
    ['at least 0', '-1', '0', true],
  ])('the price of an upstream’s own cost is that cost, %s', (_, reported, cost, isClamped) => {
    const price = priceText(quote(upstreamCost), used({ input: 1 }), bill(exact(reported)))

    expect(price).toMatchObject({ cost: usd(cost), tariff: null, isClamped })
  })

  test.each([
    ['rounded up', '0.0000000001', '0.000000001'],
    ['not multiplied by the markup', '0.1', '0.1'],
    ['not limited to the worst case', '5', '5'],
  ])('the price of any row has the upstream’s own cost for the books, %s', (_, reported, recorded) => {
    for (const pricing of [tariff, free, upstreamCost])
      expect(priceText(quote(pricing), used({ input: 1 }), bill(exact(reported))).providerCost).toBe(
        usd(recorded),
      )
  })

  test.each([
    ['was not reported', null],
    ['is negative', exact('-1')],
    ['is above a million dollars', exact('1000000.1')],
  ])('the price of an upstream’s own cost that %s is not in the books', (_, reported) => {
    expect(priceText(quote(tariff), used({ input: 1 }), bill(reported)).providerCost).toBeNull()
  })

  test('the price of any row has the cost at the prices of the upstream for the books, rounded up once', () => {
    const prices = { input: usd('0.0001'), output: usd('0.0002') }

    for (const pricing of [tariff, free, upstreamCost]) {
      const price = priceText(quote(pricing), used({ input: 1, output: 1 }), bill(null, prices))
      expect(price.providerCost).toBe(usd('0.000000001'))
    }
  })

  test.each([
    ['counts, also if it is 0', exact('0'), '0'],
    ['does not count if it is negative', exact('-1'), '3'],
    ['does not count above a million dollars', exact('1000000.1'), '3'],
  ])('the price of an upstream’s own cost %s beside the prices of the upstream', (_, reported, recorded) => {
    const prices = { input: usd('3000000'), output: ZERO }

    const price = priceText(quote(tariff), used({ input: 1 }), bill(reported, prices))

    expect(price.providerCost).toBe(usd(recorded))
  })

  test('the price of an upstream’s own cost that was not reported is 0 and is marked as unreported', () => {
    const price = priceText(quote(upstreamCost), used({ input: 1 }), bill(null))

    expect(price).toMatchObject({ cost: ZERO, isCostUnreported: true })
  })

  test('the price of a clamped usage stays clamped', () => {
    for (const pricing of [tariff, free, upstreamCost]) {
      const price = priceText(quote(pricing), used({ input: 1 }, { isClamped: true }), bill(exact('1e-9')))
      expect(price.isClamped).toBe(true)
    }
  })
})

describe('the price of an interrupted stream', () => {
  test('the price of an interrupted stream whose upstream reported no cost is that of its usage at the ceiling tariff, which is recorded', () => {
    const priced = priceInterrupted(quote(upstreamCost), used({ input: 5, output: 3 }), bill(null))

    expect(priced).toMatchObject({
      metered: { usage: { input: 5, output: 3 } },
      price: { cost: usd('0.021'), tariff: TARIFF, isClamped: false, isCostUnreported: false },
    })
  })

  test('the price of an interrupted stream whose upstream reported a cost is that cost, at most the worst case', () => {
    const { price } = priceInterrupted(quote(upstreamCost), used({ input: 5 }), bill(exact('1')))

    expect(price).toMatchObject({ cost: usd('0.22'), tariff: null, isClamped: true })
  })

  test('the price of an interrupted stream at a tariff records what its upstream says that it costs, rounded up', () => {
    const { price } = priceInterrupted(quote(tariff), used({ input: 5 }), bill(exact('0.0000000001')))

    expect(price).toMatchObject({ cost: usd('0.015'), providerCost: usd('0.000000001') })
  })

  test('the price of an interrupted stream leaves out what exceeds the worst case, from the last bucket on', () => {
    const many = used({ input: 6, cachedInput: 6, output: 60, reasoning: 60, serverToolUses: 1 })

    const { metered, price } = priceInterrupted(quote(tariff), many, bill(null))

    expect(metered).toMatchObject({ isClamped: true })
    expect(metered.usage).toEqual({ ...NO_USAGE, input: 6, cachedInput: 4, output: 60, reasoning: 40 })
    expect(price).toMatchObject({ cost: usd('0.22'), isClamped: true })
  })

  test('the price of an interrupted stream keeps a usage of more tokens than the worst case whose price is not higher', () => {
    const many = used({ cachedInput: 20, output: 1 })

    const { metered, price } = priceInterrupted(quote(tariff), many, bill(null))

    expect(metered.usage).toEqual(many.usage)
    expect(price).toMatchObject({ cost: usd('0.032'), isClamped: false })
  })

  test('the price of an interrupted stream in a service tier that is dearer than the held one is at most the worst case', () => {
    const ceiling = { ...TARIFF, serviceTiers: { priority: 2_000_000_000n } }
    const held = quote({ ...upstreamCost, ceiling }, { pricedFeatures: () => featuresOfTier('default') })

    const { metered, price } = priceInterrupted(
      held,
      used({ output: 100, serviceTier: 'priority' }),
      bill(null),
    )

    expect(held.amount).toBe(usd('0.22'))
    expect(metered.usage).toEqual({ ...NO_USAGE, output: 100 })
    expect(price).toMatchObject({ cost: usd('0.21'), isClamped: true })
  })

  test('the price of an interrupted stream has the provider’s cost of the usage that is charged', () => {
    const many = used({ input: 6, output: 200 })

    const { price } = priceInterrupted(quote(tariff), many, bill(null, TARIFF))

    expect(price).toMatchObject({ cost: usd('0.216'), providerCost: usd('0.216'), isClamped: true })
  })

  test('the price of an interrupted stream of a free row is 0', () => {
    const { price } = priceInterrupted(quote(free), used({ input: 5 }), bill(null))

    expect(price).toMatchObject({ cost: ZERO, tariff: null })
  })
})
