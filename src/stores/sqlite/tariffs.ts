import type { Database, Statement } from 'bun:sqlite'
import { nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { ServiceTiers } from '../../domain/pricing/service-tiers.ts'
import type {
  ImageTariff,
  ImageTokenTariff,
  TextPrices,
  TextTariff,
  VideoTariff,
} from '../../domain/pricing/tariff.ts'
import type { Tables } from './tables.ts'
import type { Transactions } from './transactions.ts'

type Tariff = TextTariff | ImageTariff | VideoTariff

/** The table of the tariffs that charges were priced with: one row for each different set of prices. */
export class Tariffs {
  readonly #table: Tables['tariffs']
  readonly #findId: Statement<{ id: bigint }, [string]>
  /** By identity: the catalog is frozen, so all charges of a model at a revision come with the same object. */
  #ids = new WeakMap<Tariff, bigint>()

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly tables: Tables
  }) {
    this.#table = parts.tables.tariffs
    this.#findId = parts.database.prepare('SELECT id FROM tariffs WHERE content = ?')
    parts.transactions.join({ afterRollback: () => (this.#ids = new WeakMap()) })
  }

  /** Inside a step: the row of a tariff, which is written if it is new. */
  idOf(tariff: Tariff): bigint {
    const known = this.#ids.get(tariff)
    if (known !== undefined) return known
    const content = contentOf(tariff)
    const id = this.#findId.get(content)?.id ?? this.#table.insert({ content })
    if (id === null) throw new Error('The row id of the tariff is in use.')
    this.#ids.set(tariff, id)
    return id
  }
}

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

/** Equal prices always make the same text, because a row is found by it. */
function contentOf(tariff: Tariff): string {
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
