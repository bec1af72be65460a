import type { NanoUsd } from '../money.ts'
import { exactBigPrice, exactPrice } from './exact-price.ts'
import { perTariff } from './per-tariff.ts'
import { priceOf, type TextTariff } from './tariff.ts'
import { usageBuckets, type UsageBucket } from './usage.ts'

const MILLION = 1_000_000n
const inputBuckets = ['input', 'cachedInput', 'cacheWrite', 'audioInput'] as const satisfies UsageBucket[]
const outputBuckets = usageBuckets.filter(bucket => !inputBuckets.includes(bucket as never))

/** What a text request can cost at most, as far as it can be known before it is sent. */
export type WorstCase = {
  readonly inputTokens: number
  /** The ceiling of one choice. */
  readonly outputTokens: number
  readonly choices: number
}

/**
 * Prices a worst case: all input at the dearest input price, the output ceiling of every choice at the dearest output
 * price, and the price per request. Rounds once, up.
 */
export function worstCasePrice(worst: WorstCase, tariff: TextTariff): NanoUsd {
  const { inputTokens, outputTokens, choices } = worst
  const { doubles } = dearest(tariff)
  const millionfold = inputTokens * doubles.input + outputTokens * choices * doubles.output
  return exactPrice(millionfold, tariff) ?? worstCaseOfMuch(worst, tariff)
}

function worstCaseOfMuch({ inputTokens, outputTokens, choices }: WorstCase, tariff: TextTariff): NanoUsd {
  const { input, output } = dearest(tariff)
  return exactBigPrice(BigInt(inputTokens) * input + BigInt(outputTokens) * BigInt(choices) * output, tariff)
}

/**
 * The largest output ceiling whose worst case costs at most `budget`; undefined when not even one token fits. This is
 * the number a 402 names.
 */
export function affordableOutputTokens(
  worst: WorstCase,
  tariff: TextTariff,
  budget: NanoUsd,
): number | undefined {
  const prices = dearest(tariff)
  const perToken = BigInt(worst.choices) * prices.output
  const fixed = BigInt(worst.inputTokens) * prices.input
  const left = (budget - (tariff.perRequest ?? 0n)) * MILLION - fixed
  if (perToken === 0n || left < perToken) return undefined
  return Math.min(Number(left / perToken), worst.outputTokens)
}

type Dearest = {
  readonly input: bigint
  readonly output: bigint
  /** The same, for `exactPrice`. */
  readonly doubles: { readonly input: number; readonly output: number }
}

const dearest = perTariff((tariff): Dearest => {
  const input = dearestOf(tariff, inputBuckets)
  const output = dearestOf(tariff, outputBuckets)
  return { input, output, doubles: { input: Number(input), output: Number(output) } }
})

function dearestOf(tariff: TextTariff, buckets: readonly UsageBucket[]): bigint {
  let highest = 0n
  for (const bucket of buckets) {
    const price = priceOf(tariff, bucket)
    if (price > highest) highest = price
  }
  return highest
}
