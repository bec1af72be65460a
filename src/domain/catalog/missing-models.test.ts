import { expect, test } from 'bun:test'
import { aCatalogOf, aDestination } from '../../../test/support/upstream-rows.ts'
import type { Catalog } from './catalog.ts'
import { missingModels } from './missing-models.ts'

/** A catalog with the model `meta/x` and the draft `draft-1`. */
const catalog: Catalog = {
  ...aCatalogOf([aDestination('main')]),
  models: new Map([['meta/x', {} as never]]),
  drafts: new Map([['draft-1', {} as never]]),
}

test.each([
  ['a model of the catalog', { perModel: { 'meta/x': {} }, patterns: ['meta/x', 'meta/*', '*'] }],
  ['a draft, which can be finished later', { perModel: { 'draft-1': {} }, patterns: ['draft-*'] }],
  ['a model whose limits are removed', { perModel: { gone: null } }],
  ['no model', { perModel: null, patterns: null }],
])('a change that names %s has no warning', (_, named) => {
  expect(missingModels(catalog, named)).toEqual([])
})

test('limits are for the id of a model, not for a longer name that a client may send', () => {
  expect(missingModels(catalog, { perModel: { 'openai/meta/x': {} } })).toEqual([
    expect.stringContaining('There is no model "openai/meta/x" now'),
  ])
})

test('a pattern that matches nothing is named', () => {
  expect(missingModels(catalog, { patterns: ['meta/*', 'gpt-*'] })).toEqual(['No model matches "gpt-*" now.'])
})
