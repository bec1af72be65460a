import { describe, expect, test } from 'bun:test'
import { catalogChanges, removalsIn } from './catalog-changes.ts'
import { EMPTY_CATALOG, type Catalog } from './catalog.ts'
import type { Model } from './model.ts'
import type { Provider } from './provider.ts'
import { decodeModel } from './rows/model-row.ts'
import { decodeProvider } from './rows/provider-row.ts'

const MAIN = { id: 'main', kind: 'openai-compatible', base_url: 'https://a.example.com/v1', api_key: 'sk-1' }
const GPT = {
  id: 'gpt-x',
  kind: 'embedding',
  upstreams: [{ provider: 'main', model: 'x' }],
  pricing: { input_per_mtok: '2.5' },
}

describe('the changes between two catalogs', () => {
  test('the changes between two catalogs are none for equal rows', () => {
    const changes = catalogChanges(aCatalog([MAIN], [GPT]), aCatalog([MAIN], [GPT]))

    expect(changes).toEqual({ rows: [], isReordered: false })
  })

  test('the changes between two catalogs name added and removed rows, and a key that goes with its provider', () => {
    const before = aCatalog([MAIN], [GPT])
    const after = aCatalog([{ ...MAIN, id: 'spare' }], [{ ...GPT, id: 'gpt-y' }])

    const changes = catalogChanges(before, after)

    expect(changes.rows.map(({ kind, id, change }) => `${change} ${kind} ${id}`)).toEqual([
      'added provider spare',
      'removed provider main',
      'added model gpt-y',
      'removed model gpt-x',
    ])
    expect(removalsIn(changes, before)).toEqual(['provider "main" with its stored key', 'model "gpt-x"'])
  })

  test('the changes between two catalogs name the fields of a changed row with both values', () => {
    const after = { ...GPT, pricing: { input_per_mtok: '3' }, display_name: 'X' }

    const { rows } = catalogChanges(aCatalog([MAIN], [GPT]), aCatalog([MAIN], [after]))

    expect(rows).toEqual([
      {
        kind: 'model',
        id: 'gpt-x',
        change: 'changed',
        losesKey: false,
        fields: [
          { field: 'pricing.input_per_mtok', before: '2.5', after: '3' },
          { field: 'display_name', before: undefined, after: 'X' },
        ],
      },
    ])
  })

  test.each([
    ['another key', 'sk-2', { before: '<stored>', after: '<another key>' }, []],
    [
      'a variable',
      'env:KEY',
      { before: '<stored>', after: 'env:KEY' },
      ['the stored key of provider "main"'],
    ],
    ['no key', undefined, { before: '<stored>', after: undefined }, ['the stored key of provider "main"']],
  ])(
    'the changes between two catalogs show %s in the place of a stored key, and never the keys',
    (_, api_key, shown, removals) => {
      const before = aCatalog([MAIN], [])

      const changes = catalogChanges(before, aCatalog([{ ...MAIN, api_key }], []))

      expect(changes.rows[0]?.fields).toEqual([{ field: 'api_key', ...shown }])
      expect(removalsIn(changes, before)).toEqual(removals)
      expect(JSON.stringify(changes)).not.toContain('sk-')
    },
  )

  test('the changes between two catalogs show another order of the same rows', () => {
    const models = [GPT, { ...GPT, id: 'gpt-y' }]

    const changes = catalogChanges(aCatalog([MAIN], models), aCatalog([MAIN], models.toReversed()))

    expect(changes).toEqual({ rows: [], isReordered: true })
  })

  test('the changes between two catalogs take nothing away with rows that only the sandbox serves', () => {
    const box = { id: 'box', kind: 'sandbox' }
    const play = { ...GPT, id: 'play', upstreams: [{ provider: 'box', model: 'x' }] }
    const both = { ...GPT, id: 'both', upstreams: [...GPT.upstreams, ...play.upstreams] }
    const before = aCatalog([MAIN, box], [play, both])

    const changes = catalogChanges(before, aCatalog([MAIN], []))

    expect(removalsIn(changes, before)).toEqual(['model "both"'])
  })
})

function aCatalog(providers: readonly object[], models: readonly object[]): Catalog {
  const decoded = {
    providers: providers.map(row => valid(decodeProvider(row)) as Provider),
    models: models.map(row => ({ ...valid(decodeModel(row)), createdAtMs: 0 }) as Model),
  }
  return {
    ...EMPTY_CATALOG,
    providers: new Map(decoded.providers.map(row => [row.id, row])),
    models: new Map(decoded.models.map(row => [row.id, row])),
  }
}

function valid<T>(checked: { readonly ok: boolean; readonly value?: T }): T {
  if (checked.value === undefined) throw new Error('A row of this test is invalid.')
  return checked.value
}
