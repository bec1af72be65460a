import { addUsd, nanoUsd, ZERO, type NanoUsd } from '../money.ts'
import type { ExactUsd } from './exact-usd.ts'
import { hasTokens, priceOfImageTokens, type ImageTokens } from './image-tokens.ts'
import { divideRoundingUp } from './round-up.ts'
import {
  priceOf,
  TOKENS_PER_PRICE,
  type ImageTariff,
  type TextPrices,
  type TextTariff,
  type VideoTariff,
} from './tariff.ts'
import { pricesFor } from './tiers.ts'
import { inputTokens, usageBuckets, type Usage } from './usage.ts'

const MS_PER_SECOND = 1_000n

/**
 * The exact price of a usage: tokens times the prices for its input, rounded up once to a nano-USD, the price per
 * request, and the price of each use of a server tool.
 */
export function chargeForTokens(usage: Usage, tariff: TextTariff): NanoUsd {
  const prices = tariff.tiers === undefined ? tariff : pricesFor(tariff, inputTokens(usage))
  let femtoUsd = 0n
  for (const bucket of usageBuckets) {
    const tokens = usage[bucket]
    // Most buckets of a usage are empty, and each operation on bigints allocates one.
    if (tokens !== 0) femtoUsd += BigInt(tokens) * priceOf(prices, bucket)
  }
  const cost = addUsd(divideRoundingUp(femtoUsd, TOKENS_PER_PRICE), prices.perRequest ?? ZERO)
  return usage.serverToolUses === 0 ? cost : addUsd(cost, chargeForServerTools(usage.serverToolUses, prices))
}

/** The price of a number of uses of server tools. */
export function chargeForServerTools(uses: number, { perServerToolUse = ZERO }: TextPrices): NanoUsd {
  return nanoUsd(BigInt(uses) * perServerToolUse)
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
