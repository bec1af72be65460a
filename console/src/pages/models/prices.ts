/** The prices of a model: which fields they have, how they read in a list, and the margin. */
import { amountOf, money, nanosOf } from '../../parts/format.ts'
import { fieldOf, type Row } from '../../parts/row-form.tsx'
import { modelsTexts } from './texts.ts'

export type Kind = 'chat' | 'embedding' | 'image' | 'video'
export const kinds: readonly Kind[] = ['chat', 'embedding', 'image', 'video']

const words = modelsTexts

const tokenImageFields = [
  'text_input_per_mtok',
  'image_input_per_mtok',
  'image_output_per_mtok',
  'max_per_image',
] as const

/** The fields of prices in the form. Others, such as tiers, are in the JSON of the row. */
export function priceFields(kind: Kind, row: Row): readonly string[] {
  switch (kind) {
    case 'chat':
      return ['input_per_mtok', 'cached_input_per_mtok', 'output_per_mtok', 'per_request']
    case 'embedding':
      return ['input_per_mtok', 'per_request']
    case 'image':
      return fieldOf(row, 'pricing.max_per_image') === '' ? ['per_image'] : tokenImageFields
    case 'video':
      return ['per_second']
  }
}

/** Of these fields, what a price may leave out. */
export const optionalPrices: ReadonlySet<string> = new Set(['cached_input_per_mtok', 'per_request'])

export type PriceMode = 'tariff' | 'free' | 'upstream_cost'

export function modeOf({ pricing }: Row): PriceMode {
  return pricing === 'free' || pricing === 'upstream_cost' ? pricing : 'tariff'
}

/** The price in a few words, such as `$2.50 in · $10.00 out per million tokens`. */
export function priceText(row: Row): string {
  if (row['pricing'] === undefined) return words.noPrice
  const price = (field: string) => fieldOf(row, `pricing.${field}`)
  switch (modeOf(row)) {
    case 'free':
      return words.modes.free
    case 'upstream_cost':
      return words.atCost(fieldOf(row, 'markup') || '1')
    case 'tariff':
      break
  }
  switch (row['kind'] as Kind) {
    case 'chat':
      return words.perTokens(money(price('input_per_mtok')), money(price('output_per_mtok')))
    case 'embedding':
      return words.perInput(money(price('input_per_mtok')))
    case 'image':
      return price('per_image') === ''
        ? words.perImageAtMost(money(price('max_per_image')))
        : words.perImage(money(price('per_image')))
    case 'video':
      return words.perSecond(money(price('per_second')))
  }
}

/** How often each price counts in the request that the margin is of. */
const weights: Readonly<Record<Kind, readonly (readonly [string, bigint])[]>> = {
  chat: [
    ['input_per_mtok', 2n],
    ['output_per_mtok', 1n],
  ],
  embedding: [['input_per_mtok', 1n]],
  image: [['per_image', 1n]],
  video: [['per_second', 1n]],
}

/**
 * The margin at the first upstream whose cost is in the row, as a fraction of the price. For text it is that of a
 * request with twice as much input as output. Null if it is not known.
 */
export function marginOf(row: Row): { readonly provider: string; readonly fraction: number } | null {
  const upstreams = (row['upstreams'] ?? []) as readonly Row[]
  const upstream = upstreams.find(({ cost }) => cost !== undefined)
  if (upstream === undefined || modeOf(row) !== 'tariff') return null
  let price = 0n
  let cost = 0n
  for (const [field, weight] of weights[row['kind'] as Kind]) {
    const [own, billed] = [fieldOf(row, `pricing.${field}`), fieldOf(upstream, `cost.${field}`)]
    if (own === '' || billed === '') return null
    price += nanosOf(own) * weight
    cost += nanosOf(billed) * weight
  }
  if (price === 0n) return null
  const thousandths = ((price - cost) * 1000n) / price
  return { provider: String(upstream['provider']), fraction: Number(thousandths) / 1000 }
}

const PERCENT = /^-?\d+(\.\d{1,3})?$/

/** A cost with a margin on top, exact and rounded up to a billionth of a dollar. Empty for no amount. */
export function withMargin(cost: string, percent: string): string {
  if (cost === '' || !PERCENT.test(percent)) return ''
  const [whole = '0', fraction = ''] = percent.split('.')
  const thousandths = BigInt(whole + fraction.padEnd(3, '0')) + 100_000n
  const nanos = (nanosOf(cost) * thousandths + 99_999n) / 100_000n
  return amountOf(nanos)
}
