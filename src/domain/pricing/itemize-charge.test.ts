import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyServiceTiers, anyTariff, anyUsage } from '../../../test/support/any-catalog.ts'
import { usd } from '../money.ts'
import { chargeForImages, chargeForTokens } from './charge.ts'
import { formatExactUsd, roundUpToNanoUsd } from './exact-usd.ts'
import { itemizeImages, itemizeTokens, itemizeVideo, type ChargeArithmetic } from './itemize-charge.ts'
import { NO_USAGE } from './usage.ts'

const tokens = fc.oneof(fc.constant(0), fc.nat(1000), fc.nat(100_000_000))
const price = fc.oneof(fc.bigInt(0n, 1000n), fc.bigInt(0n, 10n ** 12n))
const usages = anyUsage(tokens)

test('the items of a charge for text add up to the charge, with any tariff and service tier', () => {
  fc.assert(
    fc.property(usages, anyTariff(price), anyServiceTiers(), (usage, tariff, serviceTiers) => {
      for (const serviceTier of [...Object.keys(serviceTiers), 'other']) {
        const [tiered, used] = [
          { ...tariff, serviceTiers },
          { ...usage, serviceTier },
        ]
        const arithmetic = itemizeTokens(used, tiered)
        expect(arithmetic.total).toBe(chargeForTokens(used, tiered))
        expect(roundUpToNanoUsd(arithmetic.sum)).toBe(arithmetic.total)
      }
    }),
  )
})

test('the items of a charge for images add up to the charge, which has an upper bound', () => {
  const imageTokens = fc.record({
    textInput: tokens,
    imageInput: tokens,
    textOutput: tokens,
    imageOutput: tokens,
  })
  const tariffs = fc.record({
    textInput: price,
    imageInput: price,
    imageOutput: price,
    maxPerImage: price,
  }) as fc.Arbitrary<never>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), tariffs, imageTokens, (images, tariff, used) => {
      const { total, sum, isAtMost } = itemizeImages(images, tariff, used)
      expect(total).toBe(chargeForImages(images, tariff, used))
      expect(isAtMost === true ? total <= roundUpToNanoUsd(sum) : total === roundUpToNanoUsd(sum)).toBe(true)
    }),
  )
})

test.each<[string, ChargeArithmetic, string, string]>([
  ['images', itemizeImages(3, { perImage: usd('0.04') }), '3 images at 0.04 for 1: 0.12', '0.12'],
  [
    'a clip',
    itemizeVideo(3333, { perSecond: usd('0.000000001') }),
    '3333 milliseconds at 0.000000001 for 1000: 0.000000003333',
    '0.000000004',
  ],
  [
    'a long input of a service tier',
    itemizeTokens(
      { ...NO_USAGE, input: 11, output: 1, searchCalls: 2, serviceTier: 'flex' },
      {
        input: usd('1'),
        output: usd('2'),
        perRequest: usd('0.5'),
        perSearchCall: usd('0.01'),
        tiers: [
          { aboveInputTokens: 5, prices: { input: usd('3') } },
          { aboveInputTokens: 10, prices: { input: usd('4') } },
          { aboveInputTokens: 11, prices: { input: usd('5') } },
        ],
        serviceTiers: { flex: 500_000_000n },
      },
    ),
    '11 input at 4 for 1000000: 0.000022, 1 output at 2 for 1000000: 0.000001, 1 request at 0.5 for 1: 0.5, 2 searchCalls at 0.01 for 1: 0.02',
    '0.520023',
  ],
])(
  'the arithmetic of %s shows each quantity with its price and its exact amount',
  (_, found, items, total) => {
    const shown = found.items.map(
      ({ item, quantity, price: each, per, amount }) =>
        `${quantity} ${item} at ${formatExactUsd({ units: each, scale: 9 })} for ${per}: ${formatExactUsd(amount)}`,
    )

    expect(shown.join(', ')).toBe(items)
    expect(found.total).toBe(usd(total))
  },
)

test('the arithmetic names the tier of long inputs and the factor of the service tier', () => {
  const prices = { input: usd('1'), output: usd('2') }
  const tariff = {
    ...prices,
    tiers: [
      { aboveInputTokens: 5, prices: {} },
      { aboveInputTokens: 50, prices: {} },
    ],
    serviceTiers: { flex: 500_000_000n, same: 1_000_000_000n },
  }

  const used = { ...NO_USAGE, input: 50 }
  expect(itemizeTokens({ ...used, serviceTier: 'flex' }, tariff)).toMatchObject({
    aboveInputTokens: 5,
    serviceTier: { name: 'flex', factor: 500_000_000n },
  })
  expect(itemizeTokens({ ...used, serviceTier: 'same' }, tariff)).not.toContainKey('serviceTier')
  expect(itemizeTokens({ ...used, input: 5 }, tariff)).not.toContainKey('aboveInputTokens')
})
