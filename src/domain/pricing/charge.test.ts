import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyServiceTiers, anyTariff, anyUsage } from '../../../test/support/any-catalog.ts'
import { ceiling, product, rational, sum, type Rational } from '../../../test/support/rational.ts'
import { nanoUsd, usd } from '../money.ts'
import { chargeForImages, chargeForTokens, chargeForUpstreamCost, chargeForVideo } from './charge.ts'
import { parseExactUsd } from './exact-usd.ts'
import type { ImageTokens } from './image-tokens.ts'
import type { TextTariff } from './tariff.ts'
import { inputTokens, NO_USAGE, outputTokens } from './usage.ts'
import { affordableOutputTokens, usageWithin, worstCasePrice } from './worst-case.ts'

/** None, a few, many, and more than a double can count exactly once they are multiplied with a price. */
const tokens = fc.oneof(
  fc.constant(0),
  fc.nat(1000),
  fc.nat(100_000_000),
  fc.maxSafeNat(),
  fc.constantFrom(1, 1_000_000, Number.MAX_SAFE_INTEGER),
)
const choices = fc.integer({ min: 1, max: 128 })
const price = fc.oneof(fc.bigInt(0n, 1000n), fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 19n))
const tariffs = anyTariff(price)
const usages = anyUsage(tokens)

const inputPrices = ({ input, cachedInput, cacheWrite, cacheWrite1h, audioInput }: TextTariff) =>
  [
    input,
    cachedInput ?? input,
    cacheWrite ?? input,
    cacheWrite1h ?? cacheWrite ?? input,
    audioInput ?? input,
  ] as const
const outputPrices = ({ output, reasoning, audioOutput }: TextTariff) =>
  [output, reasoning ?? output, audioOutput ?? output] as const
const highest = (prices: readonly bigint[]) => prices.toSorted((a, b) => (a < b ? -1 : 1)).at(-1)!

/** The cost of a number of tokens at a price per million, not rounded. */
const tokenPrice = (count: bigint | number, perMillion: bigint): Rational =>
  product([rational(count), rational(perMillion, 1_000_000)])

test('a charge is the sum of tokens times prices, rounded up once, at any size', () => {
  fc.assert(
    fc.property(usages, tariffs, (usage, tariff) => {
      const [input, cachedInput, cacheWrite, cacheWrite1h, audioInput] = inputPrices(tariff)
      const [output, reasoning, audioOutput] = outputPrices(tariff)
      const exact = sum([
        tokenPrice(usage.input, input),
        tokenPrice(usage.cachedInput, cachedInput),
        tokenPrice(usage.cacheWrite, cacheWrite),
        tokenPrice(usage.cacheWrite1h, cacheWrite1h),
        tokenPrice(usage.audioInput, audioInput),
        tokenPrice(usage.output, output),
        tokenPrice(usage.reasoning, reasoning),
        tokenPrice(usage.audioOutput, audioOutput),
        rational(tariff.perRequest ?? 0),
        rational(BigInt(usage.serverToolUses) * (tariff.perServerToolUse ?? 0n)),
        rational(BigInt(usage.searchCalls) * (tariff.perSearchCall ?? 0n)),
        rational(BigInt(usage.fileSearches) * (tariff.perFileSearch ?? 0n)),
      ])

      expect(chargeForTokens(usage, tariff)).toBe(nanoUsd(ceiling(exact)))
    }),
    { numRuns: 2000 },
  )
})

test('a worst case prices all tokens at the highest price of their side, rounded up once, at any size', () => {
  fc.assert(
    fc.property(
      tokens,
      tokens,
      choices,
      tokens,
      tariffs,
      (inputTokens, outputTokens, count, uses, tariff) => {
        const exact = sum([
          tokenPrice(inputTokens, highest(inputPrices(tariff))),
          tokenPrice(BigInt(outputTokens) * BigInt(count), highest(outputPrices(tariff))),
          rational(tariff.perRequest ?? 0),
          rational(BigInt(uses) * (tariff.perServerToolUse ?? 0n)),
        ])

        const worst = { inputTokens, outputTokens, choices: count, serverToolUses: uses }
        const priced = worstCasePrice(worst, tariff)

        expect(priced).toBe(nanoUsd(ceiling(exact)))
      },
    ),
    { numRuns: 2000 },
  )
})

/** A tariff with service tiers, and a tier: a listed one, an unknown one, or none. */
const tieredTariffs = fc.tuple(tariffs, anyServiceTiers()).chain(([tariff, serviceTiers]) =>
  fc.record({
    tariff: fc.constant({ ...tariff, serviceTiers }),
    tier: fc.option(fc.constantFrom(...Object.keys(serviceTiers), 'unknown', 'toString'), { nil: undefined }),
  }),
)
const factorOf = (serviceTiers: Readonly<Record<string, bigint>>, tier: string | undefined): Rational =>
  rational(new Map(Object.entries(serviceTiers)).get(tier ?? '') ?? 1_000_000_000n, 1_000_000_000)
/** Small and large usages, so that both roundings and sizes are met. */
const fewTokens = fc.record({ input: fc.nat(50), output: fc.nat(50), reasoning: tokens })

test('500 random charges scale the price of their tokens by the factor of their tier, and round once', () => {
  fc.assert(
    fc.property(fewTokens, tieredTariffs, (count, { tariff, tier }) => {
      const used = sum([
        tokenPrice(count.input, tariff.input),
        tokenPrice(count.output, tariff.output),
        tokenPrice(count.reasoning, tariff.reasoning ?? tariff.output),
      ])
      const exact = sum([
        product([used, factorOf(tariff.serviceTiers, tier)]),
        rational(tariff.perRequest ?? 0),
        rational(3n * (tariff.perSearchCall ?? 0n)),
      ])
      const usage = {
        ...NO_USAGE,
        ...count,
        searchCalls: 3,
        ...(tier !== undefined && { serviceTier: tier }),
      }

      expect(chargeForTokens(usage, tariff)).toBe(nanoUsd(ceiling(exact)))
    }),
    { numRuns: 500 },
  )
})

test('500 random charges add the price of each search, which no service tier changes', () => {
  const calls = fc.record({ searchCalls: fc.nat(10_000), fileSearches: fc.nat(10_000) })
  fc.assert(
    fc.property(calls, fewTokens, tieredTariffs, (called, { input }, { tariff, tier }) => {
      const exact = sum([
        product([tokenPrice(input, tariff.input), factorOf(tariff.serviceTiers, tier)]),
        rational(tariff.perRequest ?? 0),
        product([rational(called.searchCalls), rational(tariff.perSearchCall ?? 0)]),
        product([rational(called.fileSearches), rational(tariff.perFileSearch ?? 0)]),
      ])
      const usage = { ...NO_USAGE, input, ...called, ...(tier !== undefined && { serviceTier: tier }) }

      expect(chargeForTokens(usage, tariff)).toBe(nanoUsd(ceiling(exact)))
    }),
    { numRuns: 500 },
  )
})

test('500 random worst cases scale the tokens by a factor and add the calls', () => {
  const calls = fc.nat(1000)
  const factors = fc.bigInt(1n, 1_000_000_000_000n)
  fc.assert(
    fc.property(
      tokens,
      tokens,
      calls,
      factors,
      tariffs,
      (inputTokens, outputTokens, count, tierFactor, tariff) => {
        const held = sum([
          tokenPrice(inputTokens, highest(inputPrices(tariff))),
          tokenPrice(outputTokens, highest(outputPrices(tariff))),
        ])
        const exact = sum([
          product([held, rational(tierFactor, 1_000_000_000)]),
          rational(tariff.perRequest ?? 0),
          rational(BigInt(count) * (tariff.perSearchCall ?? 0n)),
          rational(BigInt(count) * (tariff.perFileSearch ?? 0n)),
        ])

        const worst = {
          inputTokens,
          outputTokens,
          choices: 1,
          searchCalls: count,
          fileSearches: count,
          tierFactor,
        }

        expect(worstCasePrice(worst, tariff)).toBe(nanoUsd(ceiling(exact)))
      },
    ),
    { numRuns: 500 },
  )
})

test('the affordable output ceiling fits the budget, and one token more does not', () => {
  const counts = fc.integer({ min: 1, max: 1_000_000 })
  const budgets = fc.bigInt({ min: 0n, max: 10n ** 12n })
  const features = fc.record(
    { tierFactor: fc.bigInt(1n, 1_000_000_000_000n), searchCalls: fc.nat(20), fileSearches: fc.nat(20) },
    { requiredKeys: [] },
  )
  const requests = fc.tuple(counts, choices, features)
  fc.assert(
    fc.property(requests, counts, tariffs, budgets, ([inputTokens, count, more], limit, tariff, budget) => {
      const worst = { inputTokens, choices: count, ...more }
      const costOf = (outputTokens: number) => worstCasePrice({ ...worst, outputTokens }, tariff)

      const fitting = affordableOutputTokens({ ...worst, outputTokens: limit }, tariff, nanoUsd(budget))

      if (fitting !== undefined) expect(costOf(fitting)).toBeLessThanOrEqual(budget)
      if (fitting !== undefined && fitting < limit) expect(costOf(fitting + 1)).toBeGreaterThan(budget)
      if (fitting === undefined && costOf(1) > costOf(0)) expect(costOf(1)).toBeGreaterThan(budget)
    }),
    { numRuns: 2000 },
  )
})

/** A cost as a provider writes it, and the fraction that it means. */
const reportedCosts = fc
  .record({
    digits: fc.oneof(fc.bigInt(0n, 10n ** 4n), fc.bigInt(0n, 10n ** 20n)),
    decimals: fc.nat(30),
    exponent: fc.option(fc.integer({ min: -20, max: 2 }), { nil: null }),
  })
  .map(({ digits, decimals, exponent }) => {
    const padded = digits.toString().padStart(decimals + 1, '0')
    const point = padded.length - decimals
    const plain = decimals === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`
    const power = 10n ** BigInt(Math.abs(exponent ?? 0))
    const factor = (exponent ?? 0) < 0 ? rational(1, power) : rational(power)
    return {
      text: exponent === null ? plain : `${plain}e${exponent}`,
      value: product([rational(digits, 10n ** BigInt(decimals)), factor]),
    }
  })

test('a usage that is cut to a worst case never costs more, and all that fits in it stays', () => {
  const counts = fc.nat(1_000_000)
  const counted = fc.record({ inputTokens: counts, outputTokens: counts, choices, serverToolUses: counts })
  fc.assert(
    fc.property(usages, counted, tariffs, (usage, worst, tariff) => {
      const within = usageWithin(usage, worst)

      expect(chargeForTokens(within, tariff)).toBeLessThanOrEqual(worstCasePrice(worst, tariff))
      expect(inputTokens(within)).toBe(Math.min(inputTokens(usage), worst.inputTokens))
      expect(outputTokens(within)).toBe(Math.min(outputTokens(usage), worst.outputTokens * worst.choices))
      expect(within.serverToolUses).toBe(Math.min(usage.serverToolUses, worst.serverToolUses))
    }),
    { numRuns: 2000 },
  )
})

test("a charge by the upstream's cost is that cost times the markup, rounded up once", () => {
  const markup = fc.bigInt({ min: 1n, max: 1_000_000_000_000n })
  fc.assert(
    fc.property(reportedCosts, markup, ({ text, value }, markupBillionths) => {
      const exact = product([value, rational(markupBillionths, 1_000_000_000), rational(1_000_000_000)])

      const charge = chargeForUpstreamCost(parseExactUsd(text)!, markupBillionths)

      expect(charge).toBe(nanoUsd(ceiling(exact)))
    }),
    { numRuns: 500 },
  )
})

test('a charge for images is their number times the price, at any size', () => {
  fc.assert(
    fc.property(tokens, price, (images, perImage) => {
      const exact = product([rational(images), rational(perImage)])

      expect(chargeForImages(images, { perImage: nanoUsd(perImage) })).toBe(nanoUsd(ceiling(exact)))
    }),
  )
})

const tokenTariff = {
  textInput: usd('5'),
  imageInput: usd('10'),
  imageOutput: usd('40'),
  maxPerImage: usd('0.25'),
}
const noTokens = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 }

test.each<[string, Partial<ImageTokens> | undefined, string]>([
  // The documented answer of a gpt-image model: 50 × 5 + 4,160 × 40 per million.
  ['the tokens of the answer', { textInput: 50, imageOutput: 4160 }, '0.16665'],
  ['an input image', { textInput: 50, imageInput: 1000, imageOutput: 4160 }, '0.17665'],
  ['text beside the image, at the price of the image', { textOutput: 100, imageOutput: 1000 }, '0.044'],
  ['one token, rounded up', { textInput: 1 }, '0.000005'],
  ['more than the highest price of two images', { imageOutput: 20_000 }, '0.5'],
  ['no tokens, at the highest price', {}, '0.5'],
  ['an unknown number of tokens, at the highest price', undefined, '0.5'],
])('two images are charged for %s', (_, tokens, cost) => {
  const counted = tokens && { ...noTokens, ...tokens }

  expect(chargeForImages(2, tokenTariff, counted)).toBe(usd(cost))
})

test('a charge for the tokens of images is their exact price, rounded up once, at any size', () => {
  fc.assert(
    fc.property(
      fc.tuple(tokens, tokens, tokens, tokens).filter(counts => counts.some(count => count > 0)),
      fc.tuple(price, price, price, price),
      (counts, prices) => {
        const [textInput, imageInput, textOutput, imageOutput] = counts
        const exact = sum(
          counts.map((count, at) => product([rational(count), rational(prices[at]!, 1_000_000)])),
        )
        const tariff = {
          textInput: nanoUsd(prices[0]),
          imageInput: nanoUsd(prices[1]),
          textOutput: nanoUsd(prices[2]),
          imageOutput: nanoUsd(prices[3]),
          maxPerImage: nanoUsd(10n ** 40n),
        }

        const cost = chargeForImages(1, tariff, { textInput, imageInput, textOutput, imageOutput })

        expect(cost).toBe(nanoUsd(ceiling(exact)))
      },
    ),
    { numRuns: 500 },
  )
})

test('a charge for a video is its seconds times the price, rounded up once, at any size', () => {
  const durations = fc.oneof(fc.nat(100_000), fc.maxSafeNat(), fc.constantFrom(1, 999, 1_000, 1_001))
  fc.assert(
    fc.property(durations, price, (durationMs, perSecond) => {
      const exact = product([rational(durationMs, 1_000), rational(perSecond)])

      expect(chargeForVideo(durationMs, { perSecond: nanoUsd(perSecond) })).toBe(nanoUsd(ceiling(exact)))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  [1, '0.000001', '0.000000001'],
  [999_999, '0.000000001', '0.000000001'],
  [1_000_000, '0.000000001', '0.000000001'],
  [1_000_001, '0.000000001', '0.000000002'],
])('%p tokens at %s USD a million cost %s', (input, perMillion, cost) => {
  const tariff = { input: usd(perMillion), output: usd('0') }

  expect(chargeForTokens({ ...NO_USAGE, input }, tariff)).toBe(usd(cost))
})

test.each([
  [5_000, '0.1', '0.5'],
  [5_042, '0.1', '0.5042'],
  [1, '0.000000001', '0.000000001'],
  [1_001, '0.000000001', '0.000000002'],
  [0, '0.1', '0'],
])('a clip of %p ms at %s USD a second costs %s', (durationMs, perSecond, cost) => {
  expect(chargeForVideo(durationMs, { perSecond: usd(perSecond) })).toBe(usd(cost))
})

test.each([
  [{ cacheWrite1h: 1 }, 'input'],
  [{ reasoning: 1 }, 'output'],
])('a damaged tariff without a base price prices no usage: %p', (used, missing) => {
  const damaged = {} as TextTariff

  expect(() => chargeForTokens({ ...NO_USAGE, ...used }, damaged)).toThrow(
    new RangeError(`The tariff has no price for ${missing}.`),
  )
})
