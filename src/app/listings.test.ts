import { expect, test } from 'bun:test'
import { decodeCatalog } from '../domain/catalog/rows/catalog-rows.ts'
import { EMPTY_CATALOG, type Catalog } from '../domain/catalog/catalog.ts'
import type { Model } from '../domain/catalog/model.ts'
import type { Provider } from '../domain/catalog/provider.ts'
import type { Authenticated } from '../gateway/ports/accounts.ts'
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

const caller = (sandboxOnly: boolean) => ({ account: { sandboxOnly } }) as Authenticated
const ids = ({ models }: Catalog) => [...models.keys()]

test.each([
  ['on', false, ['play', 'real', 'both']],
  ['on', true, ['play', 'both']],
  ['off', false, ['real', 'both']],
  ['off', true, []],
])('with the sandbox %s, an account with sandboxOnly %p sees %p', (sandbox, sandboxOnly, shown) => {
  const { forCaller } = listings({ current: () => catalog }, { isSandboxOn: sandbox === 'on' })

  expect(ids(forCaller(caller(sandboxOnly)))).toEqual(shown)
})

test('the public lists show the models of a regular account, and are the same object until an edit', () => {
  const { forAll, forCaller } = listings({ current: () => catalog }, { isSandboxOn: false })

  expect(ids(forAll())).toEqual(['real', 'both'])
  expect(forAll()).toBe(forAll())
  expect(forCaller(caller(false))).toBe(forAll())
})
