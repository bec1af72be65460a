import { formatUsd, nanoUsd } from '../../money.ts'
import { FACTOR_ONE } from '../../pricing/service-tiers.ts'
import type { ModelKind } from '../model.ts'
import { isPriceFor, type ListPrice, type PriceList } from '../price-list.ts'
import { checkText, requiredText } from './fields.ts'
import { imagePriceFields, imagePricingRemedy, readImagePricing, writeImagePricing } from './image-pricing.ts'
import { modelId } from './model-row.ts'
import { nearest } from './nearest.ts'
import {
  readFactor,
  readTextTariff,
  readVideoPricing,
  tariffFields,
  textPriceExamples,
  videoPricingRemedy,
  writeTextTariff,
} from './pricing-row.ts'
import { checked, report, type Checked } from './problem.ts'
import {
  definedOnly,
  describe,
  fieldOf,
  openRow,
  placeOf,
  quote,
  refuseUnknownFields,
  reportField,
  type Place,
  type Row,
} from './row.ts'

export const PRICE_LISTS = 'price_lists'
const priceListFields = ['id', 'factor', 'prices']

/** Stands for no list where one is assigned. */
const NO_LIST = 'none'
export const priceListName = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  remedy: 'write a name of at most 64 letters, digits and any of . _ -',
}

/** A larger factor is most likely a percentage. It also keeps multiplied prices inside a 64-bit integer. */
const LIST_FACTOR_MAX = 10n * FACTOR_ONE
const PRICES_MAX = 10_000
const VIDEO_FIELD = 'per_second'

/** Checks a price list in the format of the catalog file and the admin API, without its references to models. */
export function decodePriceList(value: unknown): Checked<PriceList> {
  return checked(problems => readPriceList(value, { path: [], problems }))
}

/** The row of a price list. */
export function encodePriceList({ id, factor, prices }: PriceList): Record<string, unknown> {
  return {
    id,
    ...(factor === undefined ? {} : { factor: formatUsd(nanoUsd(factor)) }),
    ...(prices.size === 0
      ? {}
      : { prices: Object.fromEntries([...prices].map(([model, price]) => [model, writePrice(price)])) }),
  }
}

/** Like `decodePriceList`, for a row inside a larger value. */
export function readPriceList(value: unknown, place: Place): PriceList | undefined {
  const row = openRow(value, place, 'write a price list: its id, and a factor or prices')
  if (row === undefined) return undefined
  refuseUnknownFields(row, 'a price list', priceListFields)
  const id = requiredText(row, 'id', priceListName)
  if (id === NO_LIST)
    reportField(row, 'id', { message: 'is "none", which stands for no price list', remedy: 'choose another' })
  const factor = readFactor(row, 'factor', { max: LIST_FACTOR_MAX, example: '0.8' })
  const prices = readPrices(row)
  if (factor === undefined && fieldOf(row, 'prices') === undefined)
    reportField(row, 'factor', {
      message: 'is missing, and there are no prices',
      remedy: 'write a factor in quotes, such as "0.8", or the prices of models',
    })
  return id === undefined ? undefined : { id, ...definedOnly({ factor }), prices }
}

/** The models of a catalog, with the kind of each. Undefined for a row whose kind is wrong. */
export type ModelKinds = ReadonlyMap<string, ModelKind | undefined>

export function kindsOf(models: Iterable<{ readonly id: string; readonly kind: ModelKind }>): ModelKinds {
  return new Map([...models].map(({ id, kind }) => [id, kind]))
}

/** Reports each price for a model that is not known, and each that a model of its kind cannot have. */
export function refuseUnfitPrices({ prices }: PriceList, kinds: ModelKinds, { path, problems }: Place): void {
  for (const [id, price] of prices) {
    const at = { path: [...path, 'prices', id], problems }
    const kind = kinds.get(id)
    if (!kinds.has(id)) reportUnknown(id, kinds, at)
    else if (kind !== undefined && !isPriceFor(price.kind, kind)) reportUnfit(price, kind, at)
  }
}

function reportUnknown(id: string, kinds: ModelKinds, { path, problems }: Place): void {
  const meant = nearest(id, [...kinds.keys()])
  report(problems, {
    path,
    message: 'is the price of a model that is not in this catalog',
    remedy: meant === undefined ? 'write the id of one of its models' : `did you mean ${quote(meant)}?`,
  })
}

function reportUnfit(price: ListPrice, kind: ModelKind, { path, problems }: Place): void {
  if (price.kind === 'embedding') {
    const field = tariffFields.output
    if (kind === 'chat') {
      report(problems, { path: [...path, field], message: 'is missing', remedy: 'write dollars in quotes' })
      return
    }
  }
  const remedies = {
    chat: `write ${textPriceExamples.chat}`,
    embedding: `write ${textPriceExamples.embedding}`,
    image: imagePricingRemedy,
    video: videoPricingRemedy,
  }
  const what = price.kind === 'free' ? 'is "free"' : `is the price of a model of kind ${price.kind}`
  report(problems, { path, message: `${what}, but the model is of kind ${kind}`, remedy: remedies[kind] })
}

function readPrices(row: Row): ReadonlyMap<string, ListPrice> {
  const read = new Map<string, ListPrice>()
  const value = fieldOf(row, 'prices')
  if (value === undefined) return read
  const remedy = `write the prices of models, such as {gpt-x: ${textPriceExamples.chat}}`
  const prices = openRow(value, placeOf(row, 'prices'), remedy)
  if (prices === undefined) return read
  const ids = Object.keys(prices.values)
  if (ids.length === 0 || ids.length > PRICES_MAX) {
    const message = ids.length === 0 ? 'is empty' : `has ${ids.length} prices`
    reportField(row, 'prices', { message, remedy: ids.length === 0 ? remedy : `write at most ${PRICES_MAX}` })
    return read
  }
  for (const id of ids) {
    if (checkText(id, modelId, placeOf(prices, id)) === undefined) continue
    const price = readPrice(prices, id)
    if (price !== undefined) read.set(id, price)
  }
  return read
}

/** Reads the price of one model. Its fields say which kind of model it is for. */
function readPrice(row: Row, id: string): ListPrice | undefined {
  const value = fieldOf(row, id)
  const place = placeOf(row, id)
  if (value === 'free') return { kind: 'free' }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const remedy =
      value === 'upstream_cost'
        ? 'write a tariff: a list changes the markup of such a model only by its factor'
        : 'write prices as in the pricing of a model, or "free"'
    report(row.problems, { path: place.path, message: describe(value), remedy })
    return undefined
  }
  if (Object.hasOwn(value, VIDEO_FIELD)) {
    const tariff = readVideoPricing(row, id)
    return tariff && { kind: 'video', tariff }
  }
  if (imagePriceFields.some(field => Object.hasOwn(value, field))) {
    const tariff = readImagePricing(row, id)
    return tariff && { kind: 'image', tariff }
  }
  const kind = Object.hasOwn(value, tariffFields.output) ? 'chat' : 'embedding'
  const tariff = readTextTariff(value, place, { kind, remedy: `write ${textPriceExamples[kind]}` })
  return tariff && { kind, tariff }
}

function writePrice(price: ListPrice): object | 'free' {
  switch (price.kind) {
    case 'free':
      return 'free'
    case 'chat':
    case 'embedding':
      return writeTextTariff(price.tariff, price.kind)
    case 'image':
      return writeImagePricing(price.tariff)
    case 'video':
      return { [VIDEO_FIELD]: formatUsd(price.tariff.perSecond) }
  }
}
