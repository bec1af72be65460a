import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { divideRoundingUp } from './round-up.ts'
import { priceOf, TOKENS_PER_PRICE, type TextTariff } from './tariff.ts'
import { usageBuckets, type Usage } from './usage.ts'

const BILLION = 1_000_000_000n

/** The exact price of a usage: tokens times prices, rounded up once to a nano-USD, and the price per request. */
export function chargeForTokens(usage: Usage, tariff: TextTariff): NanoUsd {
  let femtoUsd = 0n
  for (const bucket of usageBuckets) femtoUsd += BigInt(usage[bucket]) * priceOf(tariff, bucket)
  return addUsd(divideRoundingUp(femtoUsd, TOKENS_PER_PRICE), tariff.perRequest ?? ZERO)
}

/** The upstream's own cost times the operator's markup, rounded up once to a nano-USD. */
export function chargeForUpstreamCost(upstreamCost: NanoUsd, markupBillionths: bigint): NanoUsd {
  return divideRoundingUp(upstreamCost * markupBillionths, BILLION)
}
