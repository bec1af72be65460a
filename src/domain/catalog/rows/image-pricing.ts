import { formatUsd, type NanoUsd } from '../../money.ts'
import type { ImageTokenPrices } from '../../pricing/image-tokens.ts'
import type { ImageTariff } from '../../pricing/tariff.ts'
import { readPrice } from './pricing-row.ts'
import { definedOnly, fieldOf, openRow, placeOf, refuseUnknownFields, reportField, type Row } from './row.ts'

/** The field names of the prices of tokens in an image row. */
export const imageTokenFields = {
  textInput: 'text_input_per_mtok',
  imageInput: 'image_input_per_mtok',
  textOutput: 'text_output_per_mtok',
  imageOutput: 'image_output_per_mtok',
} as const satisfies Record<keyof ImageTokenPrices, string>

const PER_IMAGE = 'per_image'
const MAX_PER_IMAGE = 'max_per_image'

const tokenPricesExample = 'text_input_per_mtok: "5", image_input_per_mtok: "10", image_output_per_mtok: "40"'

/** The remedy for an image row without a price. */
export const imagePricingRemedy = 'write {per_image: "0.04"}, or prices for tokens and max_per_image'

/** The fields of prices for the tokens of an image. */
const tokenFields: readonly string[] = [...Object.values(imageTokenFields), MAX_PER_IMAGE]

/** The fields of the price of an image model. */
export const imagePriceFields: readonly string[] = [PER_IMAGE, ...tokenFields]

/**
 * Reads the price of an image model from a field, such as `pricing` or the `cost` of an upstream: for each image, or
 * for the tokens of the answer.
 */
export function readImagePricing(row: Row, field = 'pricing'): ImageTariff | undefined {
  const value = fieldOf(row, field)
  if (value === undefined) return undefined
  const pricing = openRow(value, placeOf(row, field), imagePricingRemedy)
  if (pricing === undefined) return undefined
  refuseUnknownFields(pricing, 'this pricing', imagePriceFields)
  const hasTokenPrices = tokenFields.some(field => fieldOf(pricing, field) !== undefined)
  if (!hasTokenPrices) {
    const perImage = readPrice(pricing, PER_IMAGE, { isRequired: true })
    return perImage === undefined ? undefined : { perImage }
  }
  if (fieldOf(pricing, PER_IMAGE) !== undefined) {
    const message = 'cannot be combined with prices for tokens'
    reportField(pricing, PER_IMAGE, { message, remedy: 'write max_per_image instead' })
  }
  const prices = readTokenPrices(pricing)
  const maxPerImage = readPrice(pricing, MAX_PER_IMAGE, { isRequired: true })
  return prices === undefined || maxPerImage === undefined ? undefined : { ...prices, maxPerImage }
}

/** Reads what the provider bills the operator for the tokens of an image row; undefined if it does not say. */
export function readProviderPrices(row: Row): ImageTokenPrices | undefined {
  const value = fieldOf(row, 'provider_prices')
  if (value === undefined) return undefined
  const prices = openRow(value, placeOf(row, 'provider_prices'), `write {${tokenPricesExample}}`)
  if (prices === undefined) return undefined
  refuseUnknownFields(prices, 'the prices of a provider', Object.values(imageTokenFields))
  return readTokenPrices(prices)
}

/** The fields of an image row's price, in their canonical form. */
export function writeImagePricing(tariff: ImageTariff): Readonly<Record<string, string>> {
  if ('perImage' in tariff) return { [PER_IMAGE]: formatUsd(tariff.perImage) }
  return { ...writeTokenPrices(tariff), [MAX_PER_IMAGE]: formatUsd(tariff.maxPerImage) }
}

export function writeTokenPrices(prices: ImageTokenPrices): Readonly<Record<string, string>> {
  const fields = Object.entries(imageTokenFields).flatMap(([sort, field]) => {
    const price = prices[sort as keyof ImageTokenPrices]
    return price === undefined ? [] : [[field, formatUsd(price)] as const]
  })
  return Object.fromEntries(fields)
}

function readTokenPrices(row: Row): ImageTokenPrices | undefined {
  const required = (field: string): NanoUsd | undefined => readPrice(row, field, { isRequired: true })
  const textInput = required(imageTokenFields.textInput)
  const imageInput = required(imageTokenFields.imageInput)
  const imageOutput = required(imageTokenFields.imageOutput)
  const textOutput = readPrice(row, imageTokenFields.textOutput)
  if (textInput === undefined || imageInput === undefined || imageOutput === undefined) return undefined
  return { textInput, imageInput, imageOutput, ...definedOnly({ textOutput }) }
}
