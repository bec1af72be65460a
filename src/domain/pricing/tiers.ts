import type { TextPrices, TextTariff } from './tariff.ts'

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
