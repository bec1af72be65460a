import { describe, expect, test } from 'bun:test'
import { decodeCatalog } from '../domain/catalog/rows/catalog-rows.ts'
import { EMPTY_CATALOG, type Catalog } from '../domain/catalog/catalog.ts'
import type { Model } from '../domain/catalog/model.ts'
import type { Provider } from '../domain/catalog/provider.ts'
import type { Authenticated } from '../gateway/ports/access/api-keys.ts'
import { listings } from './listings.ts'

const decoded = decodeCatalog({
  providers: [
    { id: 'box', kind: 'sandbox' },
    { id: 'main', kind: 'openai-compatible', base_url: 'https://api.example.com' },
  ],
  models: [
    ['play', 'box'],
    ['real', 'main'],
    ['both', 'box', 'main'],
  ].map(([id, ...providers]) => ({
    id,
    kind: 'embedding',
    pricing: 'free',
    upstreams: providers.map(provider => ({ provider, model: 'm' })),
  })),
})
if (!decoded.ok) throw new Error('The catalog of this test is wrong.')
const catalog: Catalog = {
  ...EMPTY_CATALOG,
  providers: new Map(decoded.value.providers.map(row => [row.id, row as Provider])),
  models: new Map(decoded.value.models.map(row => [row.id, row as Model])),
}

const CALLABLE = {
  serves: ({ kind }: Provider) => kind === 'kling',
  isVariableSet: (variable: string) => variable === 'SET',
}

const caller = (sandboxOnly: boolean) => ({ account: { sandboxOnly }, apiKey: {} }) as Authenticated
const ids = ({ models }: Catalog) => [...models.keys()]

test.each([
  ['on', false, ['play', 'real', 'both']],
  ['on', true, ['play', 'both']],
  ['off', false, ['real', 'both']],
  ['off', true, []],
])('with the sandbox %s, an account with sandboxOnly %p sees %p', (sandbox, sandboxOnly, shown) => {
  const { forCaller } = listings({ current: () => catalog }, { isSandboxOn: sandbox === 'on' }, CALLABLE)

  expect(ids(forCaller(caller(sandboxOnly)))).toEqual(shown)
})

test('the public lists show the models of a regular account, and are the same object until an edit', () => {
  const { forAll, forCaller } = listings({ current: () => catalog }, { isSandboxOn: false }, CALLABLE)

  expect(ids(forAll())).toEqual(['real', 'both'])
  expect(forAll()).toBe(forAll())
  expect(forCaller(caller(false))).toBe(forAll())
})

describe('a model that cannot be called now is not listed', () => {
  const provider = (id: string, more: object) => ({
    id,
    kind: 'openai-compatible',
    base_url: 'https://api.example.com',
    ...more,
  })
  const isListed = (kind: string, row: object) => {
    const given = decodeCatalog({
      providers: [provider('main', row)],
      models: [
        {
          id: 'm',
          kind,
          ...(kind === 'chat' ? { max_output_tokens: 1 } : {}),
          pricing: kind === 'image' ? { per_image: '1' } : 'free',
          upstreams: [{ provider: 'main', model: 'm' }],
        },
      ],
    })
    if (!given.ok) throw new Error('The catalog of this test is wrong.')
    const [main] = given.value.providers
    const [model] = given.value.models
    const listed: Catalog = {
      ...EMPTY_CATALOG,
      providers: new Map([['main', main as Provider]]),
      models: new Map([['m', model as Model]]),
    }
    return ids(listings({ current: () => listed }, { isSandboxOn: true }, CALLABLE).forAll()).length === 1
  }

  test.each([
    ['chat', {}, true],
    ['chat', { api_key: 'env:SET' }, true],
    ['chat', { api_key: 'env:UNSET' }, false],
    ['chat', { api_key: 'env:SET', headers: { 'x-team': 'env:SET' } }, true],
    ['chat', { api_key: 'env:SET', headers: { 'x-team': 'env:UNSET' } }, false],
    ['chat', { routes: ['embeddings'] }, false],
    ['chat', { kind: 'anthropic' }, true],
    ['embedding', { routes: ['chat'] }, false],
    ['embedding', { kind: 'anthropic' }, false],
    ['image', {}, false],
    ['image', { kind: 'kling', api_key: 'env:SET' }, true],
  ])('a model of kind %s whose provider has %j is listed: %p', (kind, row, shown) => {
    expect(isListed(kind, row)).toBe(shown)
  })
})
