import { nanoUsd, type NanoUsd } from '../money.ts'
import { priceOf, type TextTariff } from './tariff.ts'
import { usageBuckets, type Usage } from './usage.ts'

const MILLION = 1_000_000n
const BILLION = 1_000_000_000n

/**
 * The exact price of a usage. Rounds once, at the end, and up to a nano-USD: the account pays for the fraction, never
 * the operator.
 */
export function chargeFor(usage: Usage, tariff: TextTariff): NanoUsd {
  let millionfold = 0n
  for (const bucket of usageBuckets) {
    const tokens = usage[bucket]
    // Most buckets of most requests are empty, and bigint arithmetic is the dearest thing here.
    if (tokens > 0) millionfold += BigInt(tokens) * priceOf(tariff, bucket)
  }
  return nanoUsd((millionfold + MILLION - 1n) / MILLION + (tariff.perRequest ?? 0n))
}

/** The upstream's own cost times the operator's markup, rounded up to a nano-USD. */
export function chargeForUpstreamCost(upstreamCost: NanoUsd, markupBillionths: bigint): NanoUsd {
  return nanoUsd((upstreamCost * markupBillionths + BILLION - 1n) / BILLION)
}
