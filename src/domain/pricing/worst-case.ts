import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import { chargeForServerTools } from './charge.ts'
import { divideRoundingUp } from './round-up.ts'
import { maxPriceOf, TOKENS_PER_PRICE, type TextTariff } from './tariff.ts'
import { inputBuckets, outputBuckets } from './usage.ts'

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
 * price, rounded up once to a nano-USD, the price per request, and every use of a server tool.
 */
export function worstCasePrice(worst: WorstCase, tariff: TextTariff): NanoUsd {
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
  const perToken = BigInt(worst.choices) * maxPriceOf(tariff, outputBuckets)
  const inputFemtoUsd = BigInt(worst.inputTokens) * maxPriceOf(tariff, inputBuckets)
  const left = (budget - fixedPrice(worst, tariff)) * TOKENS_PER_PRICE - inputFemtoUsd
  if (perToken === 0n || left < perToken) return undefined
  return Math.min(Number(left / perToken), worst.outputTokens)
}

/** What the request costs besides its tokens. */
function fixedPrice({ serverToolUses = 0 }: WorstCase, tariff: TextTariff): NanoUsd {
  const perRequest = tariff.perRequest ?? ZERO
  return serverToolUses === 0 ? perRequest : addUsd(perRequest, chargeForServerTools(serverToolUses, tariff))
}
