import { GatewayError } from '../errors.ts'
import { scaleImageTariff, scaleTextPricing, scaleVideoTariff } from '../pricing/scale-prices.ts'
import type { ImageTariff, TextPricing, TextTariff, VideoTariff } from '../pricing/tariff.ts'
import { findModel, type Catalog } from './catalog.ts'
import type { Model, ModelKind } from './model.ts'

/** The prices of the accounts that have this list. It is frozen: an edit makes a new list. */
export type PriceList = {
  /** Its name. */
  readonly id: string
  /**
   * The factor for the prices of models that have no own price here, in billionths. Absent: they have their default
   * prices.
   */
  readonly factor?: bigint
  /** By the id of the model. They replace the whole price of the row. */
  readonly prices: ReadonlyMap<string, ListPrice>
}

/** The price of one model in a list. An `embedding` price has no output, so a chat model cannot have it. */
export type ListPrice =
  | { readonly kind: 'free' }
  | { readonly kind: 'chat' | 'embedding'; readonly tariff: TextTariff }
  | { readonly kind: 'image'; readonly tariff: ImageTariff }
  | { readonly kind: 'video'; readonly tariff: VideoTariff }

/** Whether a model of this kind can have this price. */
export function isPriceFor(price: ListPrice['kind'], model: ModelKind): boolean {
  switch (model) {
    case 'chat':
      return price === 'chat' || price === 'free'
    case 'embedding':
      return price === 'chat' || price === 'embedding' || price === 'free'
    case 'image':
    case 'video':
      return price === model
  }
}

/** Finds the row for a client's model name, as `findModel` does, with the prices of an account. */
export function findPricedModel(
  catalog: Catalog,
  account: { readonly priceList?: string },
  name: string,
): Model | undefined {
  const model = findModel(catalog, name)
  return model && pricedModel(model, priceListOf(catalog, account))
}

/** The catalog with the prices of a list. */
export function pricedCatalog(catalog: Catalog, list: PriceList): Catalog {
  const models = [...catalog.models].map(([id, model]) => [id, pricedModel(model, list)] as const)
  return { ...catalog, models: new Map(models) }
}

/**
 * The price list of an account; undefined if it has none. Throws `unavailable` if this node has not read the list yet,
 * which another node created a moment ago: the account is never charged other prices than its own.
 */
export function priceListOf(
  { priceLists }: Pick<Catalog, 'priceLists'>,
  { priceList: id }: { readonly priceList?: string },
): PriceList | undefined {
  if (id === undefined) return undefined
  const list = priceLists.get(id)
  if (list !== undefined) return list
  throw new GatewayError('unavailable', 'The prices of this account are not loaded yet. Try again shortly.', {
    extensions: { cost_usd: '0' },
    retryAfter: '1',
  })
}

/**
 * By identity: rows and lists are frozen. Then all charges of a model and a list have the same tariff object, which the
 * store recognizes.
 */
const priced = new WeakMap<PriceList, WeakMap<Model, Model>>()

/** The model with its price in a list; the row itself without a list, or if the list does not change its price. */
export function pricedModel<Row extends Model>(model: Row, list: PriceList | undefined): Row {
  if (list === undefined) return model
  let ofList = priced.get(list)
  if (ofList === undefined) priced.set(list, (ofList = new WeakMap()))
  let row = ofList.get(model)
  if (row === undefined) ofList.set(model, (row = withPrice(model, list)))
  // A price never changes the kind of a row.
  return row as Row
}

function withPrice(model: Model, { id, factor, prices }: PriceList): Model {
  const own = prices.get(model.id)
  if (own === undefined) return factor === undefined ? model : scaledModel(model, factor)
  switch (model.kind) {
    case 'chat':
    case 'embedding':
      if (own.kind === 'image' || own.kind === 'video') break
      return { ...model, pricing: textPricing(own) }
    case 'image':
      if (own.kind !== 'image') break
      return { ...model, pricing: own.tariff }
    case 'video':
      if (own.kind !== 'video') break
      return { ...model, pricing: own.tariff }
  }
  // Edits of the catalog refuse such a price.
  throw new Error(
    `Price list "${id}" has a price of kind ${own.kind} for the ${model.kind} model "${model.id}".`,
  )
}

function scaledModel(model: Model, factor: bigint): Model {
  switch (model.kind) {
    case 'chat':
    case 'embedding':
      return { ...model, pricing: scaleTextPricing(model.pricing, factor) }
    case 'image':
      return { ...model, pricing: scaleImageTariff(model.pricing, factor) }
    case 'video':
      return { ...model, pricing: scaleVideoTariff(model.pricing, factor) }
  }
}

function textPricing(price: Exclude<ListPrice, { readonly kind: 'image' | 'video' }>): TextPricing {
  return price.kind === 'free' ? price : { kind: 'tariff', tariff: price.tariff }
}
