import { ZERO, type NanoUsd } from '../money.ts'
import type { ServiceTiers } from './service-tiers.ts'
import type { ImageTokenPrices } from './image-tokens.ts'
import type { UsageBucket } from './usage.ts'

/** A text price is for this many tokens. One token at a price of one nano-USD therefore costs one femto-USD. */
export const TOKENS_PER_PRICE = 1_000_000n

/** Prices of a text model: nano-USD per million tokens of a bucket, per request, and per call of a tool. */
export type TextPrices = {
  readonly input: NanoUsd
  readonly output: NanoUsd
  /** A bucket without its own price has the price of its parent; see `parentOf`. */
  readonly cachedInput?: NanoUsd
  readonly cacheWrite?: NanoUsd
  readonly cacheWrite1h?: NanoUsd
  readonly audioInput?: NanoUsd
  readonly reasoning?: NanoUsd
  readonly audioOutput?: NanoUsd
  readonly perRequest?: NanoUsd
  /** Absent if the model's requests may not use the provider's own tools. */
  readonly perServerToolUse?: NanoUsd
  readonly perSearchCall?: NanoUsd
  readonly perFileSearch?: NanoUsd
}

/** The prices of a text model, and those that replace some of them for long inputs. */
export type TextTariff = TextPrices & {
  /** In ascending order. The last one that a request reaches applies to all of its tokens. */
  readonly tiers?: readonly PriceTier[]
  /** Factors for the prices of tokens. Absent if all service tiers have the same prices. */
  readonly serviceTiers?: ServiceTiers
}

/**
 * Prices for requests with more input tokens than this, cached ones included. Prices that the tier does not name do not
 * change.
 */
export type PriceTier = { readonly aboveInputTokens: number; readonly prices: Partial<TextPrices> }

/** How a text model is paid for. A model without one of these cannot be served. */
export type TextPricing =
  | { readonly kind: 'tariff'; readonly tariff: TextTariff }
  | { readonly kind: 'free' }
  | {
      readonly kind: 'upstream_cost'
      /** The factor for the cost that the upstream reports, in billionths: 1_200_000_000n is × 1.2. */
      readonly markupBillionths: bigint
      /** Prices the hold only; the charge follows the upstream. */
      readonly ceiling: TextTariff
    }

/** The price of an image model: for each image, or for the tokens of the answer. */
export type ImageTariff = { readonly perImage: NanoUsd } | ImageTokenTariff

/** The highest price of one image sizes the hold. It is also the price of an image whose tokens are not reported. */
export type ImageTokenTariff = ImageTokenPrices & { readonly maxPerImage: NanoUsd }

/** The price of a video model. */
export type VideoTariff = { readonly perSecond: NanoUsd }

/** At these prices, nothing is billed. */
export const FREE_TEXT: TextTariff = { input: ZERO, output: ZERO }

const parentOf = {
  input: 'input',
  cachedInput: 'input',
  cacheWrite: 'input',
  cacheWrite1h: 'cacheWrite',
  audioInput: 'input',
  output: 'output',
  reasoning: 'output',
  audioOutput: 'output',
} as const satisfies Record<UsageBucket, UsageBucket>

/**
 * Nano-USD per million tokens of this bucket. Throws a RangeError for a damaged tariff without the price of input or
 * output.
 */
export function priceOf(tariff: TextPrices, bucket: UsageBucket): NanoUsd {
  const price = tariff[bucket]
  if (price !== undefined) return price
  const parent = parentOf[bucket]
  // Otherwise the search would never end.
  if (parent === bucket) throw new RangeError(`The tariff has no price for ${bucket}.`)
  return priceOf(tariff, parent)
}

/** The highest price of these buckets, in nano-USD per million tokens. */
export function maxPriceOf(tariff: TextPrices, buckets: readonly UsageBucket[]): NanoUsd {
  let max = ZERO
  for (const bucket of buckets) {
    const price = priceOf(tariff, bucket)
    if (price > max) max = price
  }
  return max
}

/** The prices for a request with this number of input tokens, cached ones included. */
export function pricesFor(tariff: TextTariff, inputTokens: number): TextPrices {
  if (tariff.tiers === undefined) return tariff
  let prices: TextPrices = tariff
  for (const { aboveInputTokens, prices: own } of tariff.tiers)
    if (inputTokens > aboveInputTokens) prices = { ...tariff, ...own }
  return prices
}

/** All prices that can apply to a request with at most this number of input tokens. */
export function reachablePrices(tariff: TextTariff, inputTokensMost: number): readonly TextPrices[] {
  const reachable: TextPrices[] = [tariff]
  for (const { aboveInputTokens, prices } of tariff.tiers ?? [])
    if (inputTokensMost > aboveInputTokens) reachable.push({ ...tariff, ...prices })
  return reachable
}
