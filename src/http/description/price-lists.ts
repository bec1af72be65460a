import { priceListName } from '../../domain/catalog/rows/price-list-row.ts'
import { modelKinds } from '../../domain/catalog/model.ts'
import { revisionParameter } from './admin/catalog.ts'
import { bodyOf, json, ok, type Parameter, type Paths } from './operation.ts'
import {
  about,
  always,
  anything,
  closed,
  count,
  flag,
  listOf,
  mapOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
  type Schema,
} from './schema.ts'

const id: Schema = { type: 'string', pattern: priceListName.pattern.source }
const factor = about(
  'For the prices of models without an own price here: above 0, at most 10, with at most nine decimals. Each price is rounded up to a nano-USD.',
  text,
)
const prices = about(
  'The prices of single models, as the `pricing` of their rows, or `free`. They win over the factor.',
  mapOf({ anyOf: [always('free'), { type: 'object' }] }),
)
const pricing = object({ pricing: anything }, { markup: text, ceiling_pricing: anything })
const exampleCost = about('Null if the price follows the cost of the provider.', nullable(usd))

export const priceListSchemas: Members = {
  PriceListRow: closed({ id }, { factor: nullable(factor), prices: nullable(prices) }),
  NewPriceListRow: closed({}, { id, factor: nullable(factor), prices: nullable(prices) }),
  PriceChange: object({
    model: text,
    kind: words(modelKinds),
    before: pricing,
    after: pricing,
    example: object({ of: text, before_usd: exampleCost, after_usd: exampleCost }),
  }),
  PriceListPreview: object({
    dry_run: always(true),
    revision: count,
    is_new: flag,
    changes: about(
      'The models whose price changes. The prices before are those of the catalog for a new list.',
      listOf(ref('PriceChange')),
    ),
  }),
}

const common = { tag: 'Admin: catalog', access: 'admin' } as const
const list: Parameter = {
  name: 'list',
  in: 'path',
  description: 'The name of the price list.',
  schema: text,
  example: 'partner',
}
const row = { id: 'partner', factor: '0.8' }
const change = {
  model: 'gpt-x',
  kind: 'chat',
  before: { pricing: { input_per_mtok: '2.5', output_per_mtok: '10' } },
  after: { pricing: { input_per_mtok: '2', output_per_mtok: '8' } },
  example: {
    of: '1,000 input tokens and 500 output tokens',
    before_usd: '0.0075',
    after_usd: '0.006',
  },
}

/** The price lists of accounts. */
export const priceListPaths: Paths = {
  'price-lists': {
    get: {
      ...common,
      id: 'listPriceLists',
      summary: 'All price lists',
      replies: ok('The rows.', object({ data: listOf(ref('PriceListRow')), revision: count }), {
        data: [row],
        revision: 2,
      }),
      errors: [],
    },
  },
  'price-lists/{list}': {
    get: {
      ...common,
      id: 'readPriceList',
      summary: 'A price list',
      parameters: [list],
      replies: ok('The row.', ref('PriceListRow'), row),
      errors: ['not_found'],
    },
    put: {
      ...common,
      id: 'putPriceList',
      summary: 'Create or replace a price list',
      parameters: [
        list,
        {
          name: 'dry_run',
          in: 'query',
          description: 'True changes nothing, and replies with the models whose price changes.',
          schema: words(['true', 'false']),
          example: 'true',
        },
        revisionParameter,
      ],
      body: bodyOf('NewPriceListRow', row),
      replies: {
        200: {
          description: 'The row as stored, or the changes of a dry run.',
          content: json(
            { anyOf: [ref('PriceListRow'), ref('PriceListPreview')] },
            { list: row, dry_run: { dry_run: true, revision: 2, is_new: true, changes: [change] } },
          ),
        },
      },
      errors: ['catalog_changed'],
    },
    delete: {
      ...common,
      id: 'deletePriceList',
      summary: 'Delete a price list that no open account has',
      parameters: [list],
      replies: ok('It is deleted.', ref('Deleted'), { id: 'partner', deleted: true }),
      errors: ['not_found', 'invalid_field'],
    },
  },
  'price-lists/{list}/changes': {
    get: {
      ...common,
      id: 'readPriceListChanges',
      summary: 'The models whose price in a list is not the one of the catalog',
      parameters: [list],
      replies: ok('The models.', object({ data: listOf(ref('PriceChange')) }), { data: [change] }),
      errors: ['not_found'],
    },
  },
}
