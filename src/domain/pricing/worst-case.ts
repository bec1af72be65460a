import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { chargeForServerTools } from './charge.ts'
import { divideRoundingUp } from './round-up.ts'
import { maxPriceOf, TOKENS_PER_PRICE, type TextPrices, type TextTariff } from './tariff.ts'
import { reachablePrices } from './tiers.ts'
import { inputBuckets, outputBuckets, type Usage, type UsageBucket } from './usage.ts'

/** The most tokens a text request can use, as far as this can be known before it is sent. */
export type WorstCase = {
  readonly inputTokens: number
  /** The output ceiling of one choice. */
  readonly outputTokens: number
  readonly choices: number
  /** The most uses of server tools; absent if the request offers the model none. */
  readonly serverToolUses?: number
}

/**
 * Prices a worst case: all input at the highest input price, the output ceiling of every choice at the highest output
 * price, rounded up once to a nano-USD, the price per request, and every use of a server tool. With tiers, it uses the
 * highest prices that the input can reach.
 */
export function worstCasePrice(worst: WorstCase, tariff: TextTariff): NanoUsd {
  if (tariff.tiers === undefined) return priceAt(worst, tariff)
  let highest = ZERO
  for (const prices of reachablePrices(tariff, worst.inputTokens)) {
    const price = priceAt(worst, prices)
    if (price > highest) highest = price
  }
  return highest
}

/** A usage without what exceeds a worst case, so that it costs at most as much. Leaves out the last buckets first. */
export function usageWithin(usage: Usage, worst: WorstCase): Usage {
  const { inputTokens, outputTokens, choices, serverToolUses = 0 } = worst
  return {
    ...usage,
    ...bucketsWithin(usage, inputBuckets, inputTokens),
    ...bucketsWithin(usage, outputBuckets, outputTokens * choices),
    serverToolUses: Math.min(usage.serverToolUses, serverToolUses),
  }
}

function bucketsWithin(
  usage: Usage,
  buckets: readonly UsageBucket[],
  tokensMax: number,
): Partial<Record<UsageBucket, number>> {
  const within: Partial<Record<UsageBucket, number>> = {}
  let left = tokensMax
  for (const bucket of buckets) {
    const tokens = Math.min(usage[bucket], left)
    within[bucket] = tokens
    left -= tokens
  }
  return within
}

function priceAt(worst: WorstCase, tariff: TextPrices): NanoUsd {
  const { inputTokens, outputTokens, choices } = worst
  const femtoUsd =
    BigInt(inputTokens) * maxPriceOf(tariff, inputBuckets) +
    BigInt(outputTokens) * BigInt(choices) * maxPriceOf(tariff, outputBuckets)
  return addUsd(divideRoundingUp(femtoUsd, TOKENS_PER_PRICE), fixedPrice(worst, tariff))
}

/**
 * The largest output ceiling whose worst case costs at most `budget`; undefined when not even one token fits. A 402
 * tells the client this number.
 */
export function affordableOutputTokens(
  worst: WorstCase,
  tariff: TextTariff,
  budget: NanoUsd,
): number | undefined {
  let affordable = Infinity
  for (const prices of reachablePrices(tariff, worst.inputTokens))
    affordable = Math.min(affordable, affordableAt(worst, prices, budget))
  return affordable > 0 && affordable < Infinity ? affordable : undefined
}

/** 0 if not even one token fits. Infinity if output is free. */
function affordableAt(worst: WorstCase, tariff: TextPrices, budget: NanoUsd): number {
  const perToken = BigInt(worst.choices) * maxPriceOf(tariff, outputBuckets)
  const inputFemtoUsd = BigInt(worst.inputTokens) * maxPriceOf(tariff, inputBuckets)
  const left = (budget - fixedPrice(worst, tariff)) * TOKENS_PER_PRICE - inputFemtoUsd
  if (left < perToken) return 0
  if (perToken === 0n) return Infinity
  return Math.min(Number(left / perToken), worst.outputTokens)
}

/** The cost of the request besides its tokens. */
function fixedPrice({ serverToolUses = 0 }: WorstCase, tariff: TextPrices): NanoUsd {
  const perRequest = tariff.perRequest ?? ZERO
  return serverToolUses === 0 ? perRequest : addUsd(perRequest, chargeForServerTools(serverToolUses, tariff))
}
