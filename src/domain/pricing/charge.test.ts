import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyTariff } from '../../../test/support/any-catalog.ts'
import { nanoUsd, usd } from '../money.ts'
import { chargeFor } from './charge.ts'
import { priceOf, type TextTariff } from './tariff.ts'
import { NO_USAGE, usageBuckets, type Usage } from './usage.ts'
import { worstCasePrice } from './worst-case.ts'

const MILLION = 1_000_000n

/** Nothing, a few, many, and what no double holds with every price. */
const tokens = fc.oneof(
  fc.constant(0),
  fc.nat(1000),
  fc.nat(100_000_000),
  fc.maxSafeNat(),
  fc.constantFrom(1, 1_000_000, Number.MAX_SAFE_INTEGER),
)
const price = fc.oneof(fc.bigInt(0n, 1000n), fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 19n))
const usages: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cachedInput: tokens,
  cacheWrite: tokens,
  audioInput: tokens,
  output: tokens,
  reasoning: tokens,
  audioOutput: tokens,
})
const tariffs = anyTariff(price)

const roundedUp = (millionfold: bigint, { perRequest = nanoUsd(0n) }: TextTariff) =>
  nanoUsd((millionfold + MILLION - 1n) / MILLION + perRequest)

test('a charge is the sum of tokens times prices, rounded up once, whatever the sizes', () => {
  fc.assert(
    fc.property(usages, tariffs, (usage, tariff) => {
      let millionfold = 0n
      for (const bucket of usageBuckets) millionfold += BigInt(usage[bucket]) * priceOf(tariff, bucket)

      expect(chargeFor(usage, tariff)).toBe(roundedUp(millionfold, tariff))
    }),
    { numRuns: 2000 },
  )
})

test('a worst case is that of its tokens at their dearest prices, whatever the sizes', () => {
  fc.assert(
    fc.property(
      tokens,
      tokens,
      fc.integer({ min: 1, max: 128 }),
      tariffs,
      (input, output, choices, tariff) => {
        const dearest = (buckets: readonly (keyof Usage)[]) =>
          buckets.map(bucket => priceOf(tariff, bucket)).reduce((high, next) => (next > high ? next : high))
        const millionfold =
          BigInt(input) * dearest(['input', 'cachedInput', 'cacheWrite', 'audioInput']) +
          BigInt(output) * BigInt(choices) * dearest(['output', 'reasoning', 'audioOutput'])

        expect(worstCasePrice({ inputTokens: input, outputTokens: output, choices }, tariff)).toBe(
          roundedUp(millionfold, tariff),
        )
      },
    ),
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

  expect(chargeFor({ ...NO_USAGE, input }, tariff)).toBe(usd(cost))
})
