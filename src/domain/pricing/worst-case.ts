import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { priceBesideTokens, priceOfTokens } from './charge.ts'
import { FACTOR_ONE } from './service-tiers.ts'
import { maxPriceOf, TOKENS_PER_PRICE, type TextPrices, type TextTariff, reachablePrices } from './tariff.ts'
import { inputBuckets, outputBuckets, type ToolCalls, type Usage, type UsageBucket } from './usage.ts'

/** The most tokens a text request can use, as far as this can be known before it is sent. */
export type WorstCase = {
  readonly inputTokens: number
  /** The output ceiling of one choice. */
  readonly outputTokens: number
  readonly choices: number
  /** The factor of the dearest service tier, in billionths. */
  readonly tierFactor?: bigint
} & Partial<ToolCalls>

/**
 * Prices a worst case: all input at the highest input price, the output ceiling of every choice at the highest output
 * price, times the factor of the service tier, rounded up once to a nano-USD, the price per request, and every call of
 * a tool. With tiers, it uses the highest prices that the input can reach.
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

/**
 * A usage without what exceeds a worst case, so that it costs at most as much in a service tier that the worst case
 * covers. Leaves out the last buckets first.
 */
export function usageWithin(usage: Usage, worst: WorstCase): Usage {
  const { inputTokens, outputTokens, choices } = worst
  const { serverToolUses = 0, searchCalls = 0, fileSearches = 0 } = worst
  return {
    ...usage,
    ...bucketsWithin(usage, inputBuckets, inputTokens),
    ...bucketsWithin(usage, outputBuckets, outputTokens * choices),
    serverToolUses: Math.min(usage.serverToolUses, serverToolUses),
    searchCalls: Math.min(usage.searchCalls, searchCalls),
    fileSearches: Math.min(usage.fileSearches, fileSearches),
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
  const { inputTokens, outputTokens, choices, tierFactor = FACTOR_ONE } = worst
  const femtoUsd =
    BigInt(inputTokens) * maxPriceOf(tariff, inputBuckets) +
    BigInt(outputTokens) * BigInt(choices) * maxPriceOf(tariff, outputBuckets)
  return addUsd(priceOfTokens(femtoUsd, tierFactor), fixedPrice(worst, tariff))
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
  const { tierFactor = FACTOR_ONE } = worst
  const forTokens = budget - fixedPrice(worst, tariff)
  if (forTokens < 0n) return 0
  const left = (forTokens * TOKENS_PER_PRICE * FACTOR_ONE) / tierFactor - inputFemtoUsd
  if (left < perToken) return 0
  if (perToken === 0n) return Infinity
  return Math.min(Number(left / perToken), worst.outputTokens)
}

/** The cost of the request beside its tokens. */
function fixedPrice(worst: WorstCase, tariff: TextPrices): NanoUsd {
  const { serverToolUses = 0, searchCalls = 0, fileSearches = 0 } = worst
  return priceBesideTokens({ serverToolUses, searchCalls, fileSearches }, tariff)
}
