import fc from 'fast-check'
import { expect, test } from 'bun:test'
import { isFinished, type Model } from '../../src/domain/catalog/model.ts'
import { pricedModel } from '../../src/domain/catalog/price-list.ts'
import { encodeModel } from '../../src/domain/catalog/rows/model-row.ts'
import { encodePriceList } from '../../src/domain/catalog/rows/price-list-row.ts'
import { anyModel, anyPriceList } from '../support/any-catalog.ts'
import { ceiling, product, rational, type Rational } from '../support/rational.ts'

type Fields = Readonly<Record<string, unknown>>

/** A decimal string as an exact fraction. */
function decimal(text: string): Rational {
  const [whole = '', fraction = ''] = text.split('.')
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length))
}

/** The product of two decimal strings with nine decimals, rounded up. */
function multiplied(price: string, factor: string): string {
  const billionths = ceiling(product([decimal(price), decimal(factor), rational(1_000_000_000n)])).toString()
  const digits = billionths.padStart(10, '0')
  const [whole, fraction] = [digits.slice(0, -9), digits.slice(-9).replace(/0+$/, '')]
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Every decimal string in the prices of a row times the factor. The factors of service tiers stay. */
function scaled(value: unknown, factor: string): unknown {
  if (Array.isArray(value)) return value.map(item => scaled(item, factor))
  if (typeof value === 'string') return /^\d/.test(value) ? multiplied(value, factor) : value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === 'service_tiers' ? part : scaled(part, factor),
    ]),
  )
}

/** The row that an account with this list must have, from the row and the list as the operator wrote them. */
function expected(row: Fields, list: Fields): Fields {
  const { pricing, markup, ceiling_pricing: ceilingPricing, ...others } = row
  const own = (list['prices'] as Fields | undefined)?.[row['id'] as string]
  if (own !== undefined) return { ...others, pricing: own }
  const { factor } = list
  if (typeof factor !== 'string') return row
  return {
    ...others,
    ...Object.fromEntries(
      Object.entries({ pricing, markup, ceiling_pricing: ceilingPricing })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, scaled(value, factor)]),
    ),
  }
}

const anyPricedModel = anyModel(['main'])
  .filter((row): row is Model => isFinished(row))
  .chain(model => fc.record({ model: fc.constant(model), list: anyPriceList([model]) }))

test('the prices of an account are those of its list, by an independent calculation', () => {
  fc.assert(
    fc.property(anyPricedModel, ({ model, list }) => {
      const before = encodeModel(model)

      const priced = encodeModel(pricedModel(model, list))

      expect(priced).toEqual(expected(before, encodePriceList(list)))
      expect(encodeModel(model)).toEqual(before)
    }),
    { numRuns: 1000 },
  )
})

test('the independent calculation rounds up to nine decimals', () => {
  expect(multiplied('0.000000001', '0.000000001')).toBe('0.000000001')
  expect(multiplied('2.5', '0.8')).toBe('2')
  expect(multiplied('100', '10')).toBe('1000')
  expect(multiplied('0', '3')).toBe('0')
})
