import { nanoUsd, type NanoUsd } from '../money.ts'
import { exactBigPrice, exactPrice } from './exact-price.ts'
import { doublePricesOf, priceOf, type TextTariff } from './tariff.ts'
import { usageBuckets, type Usage } from './usage.ts'

const BILLION = 1_000_000_000n

/**
 * The exact price of a usage. Rounds once, at the end, and up to a nano-USD: the account pays for the fraction, never
 * the operator.
 */
export function chargeFor(usage: Usage, tariff: TextTariff): NanoUsd {
  const prices = doublePricesOf(tariff)
  let millionfold = 0
  for (const bucket of usageBuckets) millionfold += usage[bucket] * prices[bucket]
  return exactPrice(millionfold, tariff) ?? chargeForMuch(usage, tariff)
}

function chargeForMuch(usage: Usage, tariff: TextTariff): NanoUsd {
  let millionfold = 0n
  for (const bucket of usageBuckets) millionfold += BigInt(usage[bucket]) * priceOf(tariff, bucket)
  return exactBigPrice(millionfold, tariff)
}

/** The upstream's own cost times the operator's markup, rounded up to a nano-USD. */
export function chargeForUpstreamCost(upstreamCost: NanoUsd, markupBillionths: bigint): NanoUsd {
  return nanoUsd((upstreamCost * markupBillionths + BILLION - 1n) / BILLION)
}
