/** The own prices of models in a price list: where their form begins, which fields it has, and the row that it makes. */
import type { FormValues } from '../../parts/form.tsx'
import { editedRow, type Row } from '../../parts/row-form.tsx'
import { modeOf, optionalPrices, priceFields, type Kind } from '../models/prices.ts'
import type { PriceListRow } from './price-list-calls.ts'

/** The rows of the models by their ids. */
export type ModelRows = ReadonlyMap<string, Row>

/** The price of one model in a list, as it is before the edit. */
export type OwnPrice = {
  readonly model: string
  readonly isFree: boolean
  /** Where the fields begin: also for a free model, which can get fixed prices. */
  readonly tariff: Row
  /** The row of the model. Undefined if somebody deleted it meanwhile. */
  readonly catalog: Row | undefined
}

export function ownPricesOf({ prices }: PriceListRow, models: ModelRows): readonly OwnPrice[] {
  return Object.entries(prices ?? {}).map(([model, price]) => {
    const catalog = models.get(model)
    const isFree = price === 'free'
    return { model, isFree, tariff: isFree ? tariffOf(catalog) : price, catalog }
  })
}

/**
 * The own price that a model begins with: its whole price in the catalog, because an own price replaces all of it, also
 * what the form does not show, such as tiers. A price that follows the cost of the provider cannot be in a list.
 */
export function priceOfCatalog(model: string, models: ModelRows): OwnPrice {
  const catalog = models.get(model)
  return { model, isFree: catalog?.['pricing'] === 'free', tariff: tariffOf(catalog), catalog }
}

export function tariffOf(row: Row = {}): Row {
  return modeOf(row) === 'tariff' ? ((row['pricing'] ?? {}) as Row) : {}
}

/** The row that the form makes of a row. What the form does not have stays. */
export function rowOfForm(
  base: PriceListRow,
  own: readonly OwnPrice[],
  { id = base.id, factor = '', ...values }: FormValues,
): PriceListRow {
  const { prices: _, ...row } = editedRow(base, { id, factor }) as PriceListRow
  if (own.length === 0) return row
  const prices = Object.fromEntries(own.map(price => [price.model, writtenPrice(price, values)]))
  return { ...row, prices: prices as NonNullable<PriceListRow['prices']> }
}

/** Its fields are named like the `param` of errors, but not read by it: the id of a model may have dots. */
function writtenPrice(own: OwnPrice, values: FormValues): 'free' | Row {
  if (values[nameOf(own)] === 'free') return 'free'
  const fields = fieldsOf(own).map(field => [field, values[nameOf(own, field)] ?? ''] as const)
  return editedRow(own.tariff, Object.fromEntries(fields))
}

/** The name of a field of the price, or of the price itself. */
export function nameOf({ model }: OwnPrice, field?: string): string {
  return field === undefined ? `prices.${model}` : `prices.${model}.${field}`
}

function kindOf({ catalog }: OwnPrice): Kind | undefined {
  return catalog?.['kind'] as Kind | undefined
}

/** Images and clips cannot be free. */
export function canBeFree(own: OwnPrice): boolean {
  return own.isFree || isText(own)
}

function isText(own: OwnPrice): boolean {
  const kind = kindOf(own)
  return kind === 'chat' || kind === 'embedding'
}

function usualFields(own: OwnPrice): readonly string[] {
  const kind = kindOf(own)
  return kind === undefined ? [] : priceFields(kind, { pricing: own.tariff })
}

export function isRequired(own: OwnPrice, field: string): boolean {
  return usualFields(own).includes(field) && !optionalPrices.has(field)
}

/** The fields of a model of its kind, and the other prices that the list or the catalog has. */
export function fieldsOf(own: OwnPrice): readonly string[] {
  // An image has a price or prices for tokens, and never both.
  const ofCatalog = isText(own) ? pricesIn(tariffOf(own.catalog)) : []
  return [...new Set([...usualFields(own), ...pricesIn(own.tariff), ...ofCatalog])]
}

function pricesIn(tariff: Row): readonly string[] {
  return Object.keys(tariff).filter(field => typeof tariff[field] === 'string')
}

/** What a price has besides amounts, such as tiers. */
export function othersIn(tariff: Row): string {
  return Object.keys(tariff)
    .filter(field => typeof tariff[field] !== 'string')
    .join(', ')
}
