import { describe, expect, test } from 'bun:test'
import { EMPTY_CATALOG } from './catalog.ts'
import { decodeCatalog } from './rows/catalog-rows.ts'
import { formatPath, problemSentence } from './rows/problem.ts'
import { encodePriceList } from './rows/price-list-row.ts'
import { priceListOf, pricedModel, type PriceList } from './price-list.ts'
import { priceChanges } from './price-preview.ts'
import type { Model } from './model.ts'

const upstreams = [{ provider: 'main', model: 'm' }]
const PRICING = { input_per_mtok: '2.5', output_per_mtok: '10' }
const MODELS = [
  { id: 'gpt-x', kind: 'chat', upstreams, pricing: PRICING, max_output_tokens: 10 },
  {
    id: 'resold',
    kind: 'embedding',
    upstreams,
    pricing: 'upstream_cost',
    markup: '1.7',
    ceiling_pricing: { input_per_mtok: '9' },
  },
  { id: 'gift', kind: 'chat', upstreams, pricing: 'free', max_output_tokens: 10 },
  { id: 'embed', kind: 'embedding', upstreams, pricing: { input_per_mtok: '0.02' } },
  { id: 'draw', kind: 'image', upstreams, pricing: { per_image: '0.04' } },
  { id: 'film', kind: 'video', engine: 'family-g', upstreams, pricing: { per_second: '0.1' } },
]

function decoded(priceLists: unknown) {
  return decodeCatalog({
    providers: [{ id: 'main', kind: 'openai-compatible', base_url: 'https://a.example.com' }],
    models: MODELS,
    price_lists: priceLists,
  })
}

function aList(row: object): { readonly list: PriceList; readonly models: ReadonlyMap<string, Model> } {
  const read = decoded([{ id: 'partner', ...row }])
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  const [list] = read.value.priceLists!
  return { list: list!, models: new Map(read.value.models.map(model => [model.id, model as Model])) }
}

describe('the prices of a list', () => {
  test('the prices of a list are the prices of the catalog times its factor, and its own prices win', () => {
    const { list, models } = aList({ factor: '0.8', prices: { draw: { per_image: '0.05' } } })

    const changes = priceChanges({ models }, undefined, list)

    expect(changes.map(({ model, after }) => [model, after])).toEqual([
      ['gpt-x', { pricing: { input_per_mtok: '2', output_per_mtok: '8' } }],
      ['resold', { pricing: 'upstream_cost', markup: '1.36', ceiling_pricing: { input_per_mtok: '7.2' } }],
      ['embed', { pricing: { input_per_mtok: '0.016' } }],
      ['draw', { pricing: { per_image: '0.05' } }],
      ['film', { pricing: { per_second: '0.08' } }],
    ])
  })

  test('the prices of a list without a factor are those of the catalog for all other models', () => {
    const { list, models } = aList({ prices: { 'gpt-x': 'free' } })

    expect(pricedModel(models.get('gpt-x')!, list).pricing).toEqual({ kind: 'free' })
    expect(pricedModel(models.get('draw')!, list)).toBe(models.get('draw')!)
  })

  test('the prices of a list are the same objects for each request', () => {
    const { list, models } = aList({ factor: '0.8' })
    const row = models.get('gpt-x')!

    expect(pricedModel(row, list)).toBe(pricedModel(row, list))
    expect(pricedModel(row, undefined)).toBe(row)
  })

  test('the prices of a list that this node has not read yet are not replaced by others', () => {
    expect(() => priceListOf(EMPTY_CATALOG, { priceList: 'partner' })).toThrow(
      'The prices of this account are not loaded yet.',
    )
    expect(priceListOf(EMPTY_CATALOG, {})).toBeUndefined()
  })
})

test.each([
  ['gpt-x', { factor: '0.8' }, '1,000 input tokens and 500 output tokens', 7_500_000n, 6_000_000n],
  ['resold', { factor: '0.8' }, 'a request that costs 0.01 USD at the provider', 17_000_000n, 13_600_000n],
  ['resold', { prices: { resold: { input_per_mtok: '2' } } }, '1,000 input tokens', null, 2_000_000n],
  ['embed', { prices: { embed: 'free' } }, '1,000 input tokens', 20_000n, 0n],
  ['draw', { factor: '2' }, 'one image, at most', 40_000_000n, 80_000_000n],
  ['film', { factor: '0.5' }, 'a clip of 8 seconds', 800_000_000n, 400_000_000n],
])('the preview of a price of %s with the list %j has the example %s', (id, row, of, before, after) => {
  const { list, models } = aList(row)

  const change = priceChanges({ models }, undefined, list).find(({ model }) => model === id)

  expect(change?.example).toEqual({ of, before, after } as never)
})

describe('a price list', () => {
  test.each<[object]>([
    [{ id: 'partner', factor: '0.8' }],
    [{ id: 'partner', factor: '0.000000001' }],
    [
      {
        id: 'partner',
        prices: { 'gpt-x': { ...PRICING, tiers: [{ above_input_tokens: 5, input_per_mtok: '3' }] } },
      },
    ],
    [{ id: 'partner', factor: '10', prices: { gift: 'free', embed: { input_per_mtok: '1' } } }],
    [{ id: 'partner', prices: { embed: { input_per_mtok: '1', output_per_mtok: '0' } } }],
    [
      {
        id: 'partner',
        prices: {
          film: { per_second: '0.08' },
          draw: {
            text_input_per_mtok: '5',
            image_input_per_mtok: '10',
            image_output_per_mtok: '40',
            max_per_image: '0.2',
          },
        },
      },
    ],
  ])('a price list %j is written back as it was read', row => {
    const read = decoded([row])

    expect(read.ok && read.value.priceLists!.map(encodePriceList)).toEqual([row] as never)
  })

  test('a price list file is optional: a catalog without lists keeps the stored ones', () => {
    const read = decoded(undefined)

    expect(read.ok && 'priceLists' in read.value).toBe(false)
  })

  test.each<[object, string]>([
    [
      {},
      'price_lists[0].factor is missing, and there are no prices; write a factor in quotes, such as "0.8", or the prices of models.',
    ],
    [
      { factor: '-0.8' },
      'price_lists[0].factor is "-0.8"; write a factor in quotes, such as "0.8", above 0 and at most 10.',
    ],
    [
      { factor: '0' },
      'price_lists[0].factor is "0"; write a factor in quotes, such as "0.8", above 0 and at most 10.',
    ],
    [
      { factor: '80' },
      'price_lists[0].factor is "80"; write a factor in quotes, such as "0.8", above 0 and at most 10.',
    ],
    [
      { factor: 0.8 },
      'price_lists[0].factor is 0.8; write a factor in quotes, such as "0.8", above 0 and at most 10.',
    ],
    [
      { factor: '0.8', discount: '5' },
      'price_lists[0].discount is not a field of a price list; the fields are id, factor, prices.',
    ],
    [
      { id: 'none', factor: '1' },
      'price_lists[0].id is "none", which stands for no price list; choose another.',
    ],
    [
      { id: 'a b', factor: '1' },
      'price_lists[0].id is "a b"; write a name of at most 64 letters, digits and any of . _ -.',
    ],
    [
      { prices: { 'gpt-y': 'free' } },
      'price_lists[0].prices.gpt-y is the price of a model that is not in this catalog; did you mean "gpt-x"?',
    ],
    [
      { prices: { 'gpt-x': { per_image: '1' } } },
      'price_lists[0].prices.gpt-x is the price of a model of kind image, but the model is of kind chat; write {input_per_mtok: "2.5", output_per_mtok: "10"}.',
    ],
    [
      { prices: { 'gpt-x': { input_per_mtok: '1' } } },
      'price_lists[0].prices.gpt-x.output_per_mtok is missing; write dollars in quotes.',
    ],
    [
      { prices: { 'gpt-x': { input_per_mtok: '-1', output_per_mtok: '1' } } },
      'price_lists[0].prices.gpt-x.input_per_mtok is "-1"; write a price from "0" to "1000000".',
    ],
    [
      { prices: { draw: 'free' } },
      'price_lists[0].prices.draw is "free", but the model is of kind image; write {per_image: "0.04"}, or prices for tokens and max_per_image.',
    ],
    [
      { prices: { resold: 'upstream_cost' } },
      'price_lists[0].prices.resold is "upstream_cost"; write a tariff: a list changes the markup of such a model only by its factor.',
    ],
    [
      { prices: {} },
      'price_lists[0].prices is empty; write the prices of models, such as {gpt-x: {input_per_mtok: "2.5", output_per_mtok: "10"}}.',
    ],
  ])('a price list %j is refused, with the field and a remedy', (row, sentence) => {
    const read = decoded([{ id: 'partner', ...row }])

    expect(read.ok ? [] : read.problems.map(problem => problemSentence(problem))).toEqual([sentence])
  })

  test('a price list cannot have the id of another one', () => {
    const read = decoded([
      { id: 'partner', factor: '1' },
      { id: 'partner', factor: '2' },
    ])

    expect(read.ok ? [] : read.problems.map(({ path }) => formatPath(path))).toEqual(['price_lists[1].id'])
  })
})
