/** What an answer costs that is still arriving. It is a guess; the reply has the exact cost at its end. */
import { amountOf, nanosOf } from '../../parts/format.ts'
import type { Model } from './playground.tsx'

/** A common length of a token in English text. */
const CHARACTERS_A_TOKEN = 4
const MILLION = 1_000_000n

export function tokensOf(text: string): bigint {
  return BigInt(Math.ceil(text.length / CHARACTERS_A_TOKEN))
}

/**
 * By the prices of the catalog, without tiers and without the price list of the account. Rounded once, up. Undefined
 * for a model whose price follows the cost of the provider, or is not by tokens.
 */
export function estimatedCost(
  pricing: Model['pricing'],
  tokens: { readonly input: bigint; readonly output: bigint },
): string | undefined {
  if (pricing === 'free') return '0'
  if (typeof pricing !== 'object') return undefined
  const price = (name: string) => {
    const amount = (pricing as Readonly<Record<string, unknown>>)[name]
    return typeof amount === 'string' ? nanosOf(amount) : undefined
  }
  const [input, output] = [price('input_per_mtok'), price('output_per_mtok')]
  if (input === undefined || output === undefined) return undefined
  const ofTokens = tokens.input * input + tokens.output * output
  return amountOf((ofTokens + MILLION - 1n) / MILLION + (price('per_request') ?? 0n))
}
