import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import { chargeForImages, chargeForTokens, chargeForVideo } from '../../../domain/pricing/charge.ts'
import type { ServiceTiers } from '../../../domain/pricing/service-tiers.ts'
import type {
  ImageTariff,
  ImageTokenTariff,
  TextPrices,
  TextTariff,
  VideoTariff,
} from '../../../domain/pricing/tariff.ts'
import { imageTokensFrom, usageFrom, type UsageColumns } from './usage-columns.ts'

export type Tariff = TextTariff | ImageTariff | VideoTariff

const prices = [
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'audioInput',
  'reasoning',
  'audioOutput',
  'perRequest',
  'perImage',
  'perSecond',
  'cacheWrite1h',
  'perServerToolUse',
  'perSearchCall',
  'perFileSearch',
  'textInput',
  'imageInput',
  'textOutput',
  'imageOutput',
  'maxPerImage',
] as const satisfies readonly (keyof TextPrices | 'perImage' | keyof ImageTokenTariff | keyof VideoTariff)[]

/** The `content` of a tariff's row. Equal prices always make the same text, because a row is found by it. */
export function contentOfTariff(tariff: Tariff): string {
  const { tiers, serviceTiers } = tariff as Partial<TextTariff>
  return JSON.stringify({
    ...amountsOf(tariff),
    ...(tiers && {
      tiers: tiers.map(tier => ({ aboveInputTokens: tier.aboveInputTokens, prices: amountsOf(tier.prices) })),
    }),
    ...(serviceTiers && {
      serviceTiers: Object.fromEntries(
        Object.entries(serviceTiers)
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([tier, factor]) => [tier, factor.toString()]),
      ),
    }),
  })
}

function amountsOf(tariff: Tariff | Partial<TextPrices>): Record<string, string> {
  const set = prices.flatMap(price => {
    const amount = (tariff as { readonly [name in typeof price]?: NanoUsd })[price]
    return amount === undefined ? [] : [[price, amount.toString()] as const]
  })
  return Object.fromEntries(set)
}

/** The prices in a row's `content`, of a charge for text. */
export function tariffFrom(content: string): TextTariff {
  const { tiers, serviceTiers, ...texts } = JSON.parse(content) as Texts & {
    readonly tiers?: readonly TierTexts[]
    readonly serviceTiers?: Texts
  }
  return {
    ...(amountsFrom(texts) as TextTariff),
    ...(tiers && {
      tiers: tiers.map(({ aboveInputTokens, prices }) => ({ aboveInputTokens, prices: amountsFrom(prices) })),
    }),
    ...(serviceTiers && { serviceTiers: amountsFrom(serviceTiers) as ServiceTiers }),
  }
}

/** The prices in a row's `content`, of a charge for images. */
export function imageTariffFrom(content: string): ImageTariff {
  return pricesFrom(content) as ImageTariff
}

/** The prices in a row's `content`, of a charge for a clip. */
export function videoTariffFrom(content: string): VideoTariff {
  return pricesFrom(content) as VideoTariff
}

/** The columns of a charge that have a price. An attempt has only those of a usage. */
type PricedColumns = UsageColumns & {
  readonly images?: bigint | null
  readonly duration_ms?: bigint | null
}

/** The price of a row at a stored tariff; null if the tariff, its `content`, cannot be read. */
export function priceOfRow(row: PricedColumns, content: string): NanoUsd | null {
  const { images = null, duration_ms: durationMs = null } = row
  try {
    if (images !== null)
      return chargeForImages(Number(images), imageTariffFrom(content), imageTokensFrom(row))
    if (durationMs !== null) return chargeForVideo(Number(durationMs), videoTariffFrom(content))
    return chargeForTokens(usageFrom(row), tariffFrom(content))
  } catch {
    return null
  }
}

type Texts = Readonly<Record<string, string>>
type TierTexts = { readonly aboveInputTokens: number; readonly prices: Texts }

function pricesFrom(content: string): unknown {
  return amountsFrom(JSON.parse(content) as Texts)
}

function amountsFrom(texts: Texts): object {
  const amounts = Object.entries(texts).map(([price, amount]): [string, NanoUsd] => [
    price,
    nanoUsd(BigInt(amount)),
  ])
  return Object.fromEntries(amounts)
}
