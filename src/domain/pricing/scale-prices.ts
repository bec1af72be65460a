import { divideRoundingUp, type NanoUsd } from '../money.ts'
import { FACTOR_ONE } from './service-tiers.ts'
import type { ImageTariff, TextPricing, TextTariff, VideoTariff } from './tariff.ts'

// Prices times a factor in billionths. Each price is rounded up to a nano-USD.

/** A free model stays free. For `upstream_cost`, the markup and the ceiling are multiplied. */
export function scaleTextPricing(pricing: TextPricing, factor: bigint): TextPricing {
  switch (pricing.kind) {
    case 'free':
      return pricing
    case 'tariff':
      return { kind: 'tariff', tariff: scaleTextTariff(pricing.tariff, factor) }
    case 'upstream_cost':
      return {
        kind: 'upstream_cost',
        markupBillionths: divideRoundingUp(pricing.markupBillionths * factor, FACTOR_ONE),
        ceiling: scaleTextTariff(pricing.ceiling, factor),
      }
  }
}

export function scaleImageTariff(tariff: ImageTariff, factor: bigint): ImageTariff {
  // Two calls, so that the compiler sees which of the two kinds of tariffs each is.
  return 'perImage' in tariff ? scaleMembers(tariff, factor) : scaleMembers(tariff, factor)
}

export function scaleVideoTariff(tariff: VideoTariff, factor: bigint): VideoTariff {
  return scaleMembers(tariff, factor)
}

/** Service tiers are factors of the prices already, so they stay. */
function scaleTextTariff({ tiers, serviceTiers, ...prices }: TextTariff, factor: bigint): TextTariff {
  return {
    ...scaleMembers(prices, factor),
    ...(tiers && { tiers: tiers.map(tier => ({ ...tier, prices: scaleMembers(tier.prices, factor) })) }),
    ...(serviceTiers && { serviceTiers }),
  }
}

/** All members are prices, so that a kind of price that is added later is multiplied too. */
function scaleMembers<Prices extends Readonly<Record<string, NanoUsd>>>(
  prices: Prices,
  factor: bigint,
): Prices {
  const scaled = Object.entries(prices).map(([name, price]) => [
    name,
    divideRoundingUp(price * factor, FACTOR_ONE),
  ])
  return Object.fromEntries(scaled) as Prices
}
