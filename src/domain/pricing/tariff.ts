import type { NanoUsd } from '../money.ts'
import { perTariff } from './per-tariff.ts'
import { usageBuckets, type UsageBucket } from './usage.ts'

/** Prices of a text model: nano-USD per million tokens of a bucket, and nano-USD per request. */
export type TextTariff = {
  readonly input: NanoUsd
  readonly output: NanoUsd
  /** A bucket with no price of its own takes its parent's (`parentOf`). */
  readonly cachedInput?: NanoUsd
  readonly cacheWrite?: NanoUsd
  readonly audioInput?: NanoUsd
  readonly reasoning?: NanoUsd
  readonly audioOutput?: NanoUsd
  readonly perRequest?: NanoUsd
}

/** How a text model is paid for. A model without one of these cannot be served. */
export type TextPricing =
  | { readonly kind: 'tariff'; readonly tariff: TextTariff }
  | { readonly kind: 'free' }
  | {
      readonly kind: 'upstream_cost'
      /** What the upstream's own reported cost is multiplied with, in billionths: 1_200_000_000n is × 1.2. */
      readonly markupBillionths: bigint
      /** Prices the hold only; the charge follows the upstream. */
      readonly ceiling: TextTariff
    }

export type ImagePricing = { readonly perImage: NanoUsd }
export type VideoPricing = { readonly perSecond: NanoUsd }

const parentOf = {
  input: 'input',
  cachedInput: 'input',
  cacheWrite: 'input',
  audioInput: 'input',
  output: 'output',
  reasoning: 'output',
  audioOutput: 'output',
} as const satisfies Record<UsageBucket, 'input' | 'output'>

/** Nano-USD per million tokens of this bucket. */
export function priceOf(tariff: TextTariff, bucket: UsageBucket): NanoUsd {
  return tariff[bucket] ?? tariff[parentOf[bucket]]
}

type DoublePrices = { readonly [bucket in UsageBucket]: number }

/** The prices of all buckets as doubles, to be added up by `exactPrice`: bigints cost an allocation for each step of a sum. */
export const doublePricesOf = perTariff(tariff => {
  const entries = usageBuckets.map(bucket => [bucket, Number(priceOf(tariff, bucket))] as const)
  return Object.fromEntries(entries) as DoublePrices
})
