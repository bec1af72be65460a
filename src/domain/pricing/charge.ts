import { ZERO, addUsd, divideRoundingUp, nanoUsd, type NanoUsd } from '../money.ts'
import type { ExactUsd } from './exact-usd.ts'
import { hasTokens, priceOfImageTokens, type ImageTokens } from './image-tokens.ts'
import { FACTOR_ONE, tierFactor } from './service-tiers.ts'
import {
  priceOf,
  TOKENS_PER_PRICE,
  type ImageTariff,
  type TextPrices,
  type TextTariff,
  type VideoTariff,
} from './tariff.ts'
import { pricesFor } from './tiers.ts'
import { inputTokens, usageBuckets, type ToolCalls, type Usage } from './usage.ts'

const MS_PER_SECOND = 1_000n

/**
 * The exact price of a usage: tokens times the prices for its input and the factor of its service tier, rounded up once
 * to a nano-USD, the price per request, and the price of each call of a tool.
 */
export function chargeForTokens(usage: Usage, tariff: TextTariff): NanoUsd {
  const prices = tariff.tiers === undefined ? tariff : pricesFor(tariff, inputTokens(usage))
  let femtoUsd = 0n
  for (const bucket of usageBuckets) {
    const tokens = usage[bucket]
    // Most buckets of a usage are empty, and each operation on bigints allocates one.
    if (tokens !== 0) femtoUsd += BigInt(tokens) * priceOf(prices, bucket)
  }
  const tokens = priceOfTokens(femtoUsd, tierFactor(tariff, usage.serviceTier))
  return addUsd(tokens, priceBesideTokens(usage, prices))
}

/** Scales the price of tokens, in femto-USD, by the factor of their service tier, and rounds it up to a nano-USD. */
export function priceOfTokens(femtoUsd: bigint, factor: bigint): NanoUsd {
  return factor === FACTOR_ONE
    ? divideRoundingUp(femtoUsd, TOKENS_PER_PRICE)
    : divideRoundingUp(femtoUsd * factor, TOKENS_PER_PRICE * FACTOR_ONE)
}

/** The price per request and of each call of a tool. Service tiers do not change it. */
export function priceBesideTokens(calls: ToolCalls, prices: TextPrices): NanoUsd {
  let price: bigint = prices.perRequest ?? ZERO
  if (calls.serverToolUses > 0) price += BigInt(calls.serverToolUses) * (prices.perServerToolUse ?? ZERO)
  if (calls.searchCalls > 0) price += BigInt(calls.searchCalls) * (prices.perSearchCall ?? ZERO)
  if (calls.fileSearches > 0) price += BigInt(calls.fileSearches) * (prices.perFileSearch ?? ZERO)
  return nanoUsd(price)
}

/**
 * The price of a number of images. At prices for tokens, it is the exact price of the tokens of the answer, at most the
 * highest price of each image, which is also the price if no tokens are known.
 */
export function chargeForImages(images: number, tariff: ImageTariff, tokens?: ImageTokens): NanoUsd {
  if ('perImage' in tariff) return nanoUsd(BigInt(images) * tariff.perImage)
  const highest = nanoUsd(BigInt(images) * tariff.maxPerImage)
  if (!hasTokens(tokens)) return highest
  const exact = priceOfImageTokens(tokens, tariff)
  return exact < highest ? exact : highest
}

/**
 * The price of a clip: its duration in whole milliseconds times the price per second, rounded up once to a nano-USD.
 */
export function chargeForVideo(durationMs: number, { perSecond }: VideoTariff): NanoUsd {
  return divideRoundingUp(BigInt(durationMs) * perSecond, MS_PER_SECOND)
}

/** The upstream's own cost, which is not negative, times the operator's markup, rounded up once to a nano-USD. */
export function chargeForUpstreamCost({ units, scale }: ExactUsd, markupBillionths: bigint): NanoUsd {
  // The markup is in billionths, and so is the result.
  return divideRoundingUp(units * markupBillionths, 10n ** BigInt(scale))
}
