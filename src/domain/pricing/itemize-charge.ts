import { ZERO, type NanoUsd } from '../money.ts'
import { addExactUsd, roundUpToNanoUsd, ZERO_EXACT_USD, type ExactUsd } from './exact-usd.ts'
import { hasTokens, type ImageTokens } from './image-tokens.ts'
import { FACTOR_ONE, tierFactor } from './service-tiers.ts'
import {
  priceOf,
  pricesFor,
  TOKENS_PER_PRICE,
  type ImageTariff,
  type TextPrices,
  type TextTariff,
  type VideoTariff,
} from './tariff.ts'
import { inputTokens, usageBuckets, type ToolCalls, type Usage, type UsageBucket } from './usage.ts'

/** A quantity at a price. */
export type ChargeItem = {
  readonly item: ItemName
  readonly quantity: number
  /** The price of `per` units, before the factor of a service tier. */
  readonly price: NanoUsd
  readonly per: number
  /** Exact, with the factor of the service tier. */
  readonly amount: ExactUsd
}

export type ItemName =
  | UsageBucket
  | keyof ToolCalls
  | keyof ImageTokens
  | 'request'
  | 'images'
  | 'imagesMost'
  | 'milliseconds'

/** How a charge was computed. The total equals the sum of the items, rounded up once. */
export type ChargeArithmetic = {
  readonly items: readonly ChargeItem[]
  readonly sum: ExactUsd
  readonly total: NanoUsd
  /** The tier of prices for long inputs that applied. Absent for the usual prices. */
  readonly aboveInputTokens?: number
  /** The service tier of the answer, if it has a factor for the prices of tokens, in billionths. */
  readonly serviceTier?: { readonly name: string; readonly factor: bigint }
  /** True if the price of the tokens was above the highest price of the images, which is the total. */
  readonly isAtMost?: true
}

/** The arithmetic of `chargeForTokens`. */
export function itemizeTokens(usage: Usage, tariff: TextTariff): ChargeArithmetic {
  const prices = pricesFor(tariff, inputTokens(usage))
  const tier = tariff.tiers?.findLast(({ aboveInputTokens }) => inputTokens(usage) > aboveInputTokens)
  const factor = tierFactor(tariff, usage.serviceTier)
  const tokens = usageBuckets
    .filter(bucket => usage[bucket] > 0)
    .map(bucket => tokenItem(bucket, usage[bucket], { price: priceOf(prices, bucket), factor }))
  return {
    ...summed([...tokens, ...itemsBesideTokens(usage, prices)]),
    ...(tier && { aboveInputTokens: tier.aboveInputTokens }),
    ...(usage.serviceTier !== undefined &&
      factor !== FACTOR_ONE && { serviceTier: { name: usage.serviceTier, factor } }),
  }
}

/** The arithmetic of `chargeForImages`. */
export function itemizeImages(images: number, tariff: ImageTariff, tokens?: ImageTokens): ChargeArithmetic {
  if ('perImage' in tariff) return summed([item('images', images, tariff.perImage)])
  const highest = summed([item('imagesMost', images, tariff.maxPerImage)])
  if (!hasTokens(tokens)) return highest
  const priceOfTokens = { ...tariff, textOutput: tariff.textOutput ?? tariff.imageOutput }
  const exact = summed(
    (['textInput', 'imageInput', 'textOutput', 'imageOutput'] as const)
      .filter(sort => tokens[sort] > 0)
      .map(sort => tokenItem(sort, tokens[sort], { price: priceOfTokens[sort], factor: FACTOR_ONE })),
  )
  return exact.total < highest.total ? exact : { ...exact, total: highest.total, isAtMost: true }
}

/** The arithmetic of `chargeForVideo`. */
export function itemizeVideo(durationMs: number, { perSecond }: VideoTariff): ChargeArithmetic {
  const per = 1000
  const amount = { units: BigInt(durationMs) * perSecond, scale: NANO_SCALE + 3 }
  return summed([{ item: 'milliseconds', quantity: durationMs, price: perSecond, per, amount }])
}

/** The number of decimals of an amount in billionths. */
const NANO_SCALE = 9

function tokenItem(
  name: ItemName,
  quantity: number,
  { price, factor }: { readonly price: NanoUsd; readonly factor: bigint },
): ChargeItem {
  // A price for a million tokens adds 6 decimals, and a factor in billionths 9.
  const amount =
    factor === FACTOR_ONE
      ? { units: BigInt(quantity) * price, scale: NANO_SCALE + 6 }
      : { units: BigInt(quantity) * price * factor, scale: NANO_SCALE + 6 + 9 }
  return { item: name, quantity, price, per: Number(TOKENS_PER_PRICE), amount }
}

function item(name: ItemName, quantity: number, price: NanoUsd): ChargeItem {
  const amount = { units: BigInt(quantity) * price, scale: NANO_SCALE }
  return { item: name, quantity, price, per: 1, amount }
}

/** Service tiers do not change these prices. */
function itemsBesideTokens(calls: ToolCalls, prices: TextPrices): readonly ChargeItem[] {
  const all = [
    item('request', prices.perRequest === undefined ? 0 : 1, prices.perRequest ?? ZERO),
    item('serverToolUses', calls.serverToolUses, prices.perServerToolUse ?? ZERO),
    item('searchCalls', calls.searchCalls, prices.perSearchCall ?? ZERO),
    item('fileSearches', calls.fileSearches, prices.perFileSearch ?? ZERO),
  ]
  return all.filter(({ quantity }) => quantity > 0)
}

function summed(items: readonly ChargeItem[]): ChargeArithmetic {
  const sum = items.reduce((total, { amount }) => addExactUsd(total, amount), ZERO_EXACT_USD)
  return { items, sum, total: roundUpToNanoUsd(sum) }
}
