import { describe, expect, test } from 'bun:test'
import { EMPTY_CATALOG, findModel, missingVariables, ofAccount, type Catalog } from './catalog.ts'
import type { Model } from './model.ts'
import type { Provider } from './provider.ts'
import { decodeModel } from './rows/model-row.ts'
import { decodeProvider } from './rows/provider-row.ts'

function aCatalog(...ids: string[]): Catalog {
  return { ...EMPTY_CATALOG, models: new Map(ids.map(id => [id, aModel(id, ['box'])])) }
}

function aModel(id: string, providers: string[]): Model {
  const upstreams = providers.map(provider => ({ provider, model: 'm' }))
  const decoded = decodeModel({ id, kind: 'embedding', pricing: 'free', upstreams })
  if (!decoded.ok) throw new Error('The model of this test is invalid.')
  return { ...decoded.value, createdAtMs: 0 } as Model
}

describe('a model name', () => {
  test.each([
    ['gpt-x', 'gpt-x'],
    ['openai/gpt-x', 'gpt-x'],
    ['a/b/gpt-x', 'gpt-x'],
    ['meta/x', 'meta/x'],
    ['together/meta/x', 'meta/x'],
    ['x', undefined],
    ['gpt-x/', undefined],
    ['GPT-X', undefined],
    ['openai/', undefined],
    ['', undefined],
  ])('%p finds %p', (name, id) => {
    expect(findModel(aCatalog('gpt-x', 'meta/x'), name)?.id).toBe(id as string)
  })

  test('a model name finds the first row that matches, not a shorter name', () => {
    expect(findModel(aCatalog('x', 'meta/x'), 'meta/x')?.id).toBe('meta/x')
  })
})

describe('a catalog with models on the sandbox, on another provider, and on both', () => {
  const box = decodeProvider({ id: 'box', kind: 'sandbox' })
  const main = decodeProvider({ id: 'main', kind: 'openai-compatible', base_url: 'https://api.example.com' })
  const catalog = {
    ...EMPTY_CATALOG,
    providers: new Map([
      ['box', box.ok ? box.value : undefined],
      ['main', main.ok ? main.value : undefined],
    ]),
    models: new Map([
      ['play', aModel('play', ['box'])],
      ['real', aModel('real', ['main'])],
      ['both', aModel('both', ['box', 'main'])],
    ]),
  } as Catalog
  const ids = ({ models }: Catalog) => [...models.keys()]

  test('a catalog with models on the sandbox, on another provider, and on both keeps the models of other providers without the sandbox', () => {
    expect(ids(ofAccount(catalog, { sandboxOnly: false }, { isSandboxOn: false }))).toEqual(['real', 'both'])
  })

  test('a catalog with models on the sandbox, on another provider, and on both has the models that the sandbox offers, alone or with others, for sandbox-only accounts', () => {
    expect(ids(ofAccount(catalog, { sandboxOnly: true }, { isSandboxOn: true }))).toEqual(['play', 'both'])
  })
})

test('the variables that are not set are those of keys and of headers, each once', () => {
  const provider = (id: string, more: object) => {
    const row = { id, kind: 'openai-compatible', base_url: 'https://api.example.com', ...more }
    const decoded = decodeProvider(row)
    if (!decoded.ok) throw new Error('The provider of this test is invalid.')
    return [id, decoded.value as Provider] as const
  }
  const catalog = {
    ...EMPTY_CATALOG,
    providers: new Map([
      provider('a', { api_key: 'env:KEY', headers: { 'x-team': 'env:TEAM', 'x-title': 'TITLE' } }),
      provider('b', { api_key: 'env:KEY', headers: { 'x-region': 'env:REGION' } }),
    ]),
  }

  expect(missingVariables(catalog, variable => variable === 'REGION')).toEqual(['KEY', 'TEAM'])
})
