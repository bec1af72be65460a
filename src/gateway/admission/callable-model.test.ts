import { describe, expect, test } from 'bun:test'
import { decodeCatalog } from '../../domain/catalog/rows/catalog-rows.ts'
import { EMPTY_CATALOG, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { Authenticated } from '../ports/access/api-keys.ts'
import { callableModel, modelNotFound, type ModelSearch } from './callable-model.ts'

const decoded = decodeCatalog({
  providers: [
    { id: 'box', kind: 'sandbox' },
    { id: 'main', kind: 'openai-compatible', base_url: 'https://api.example.com' },
  ],
  models: [
    { id: 'gpt-large', kind: 'chat', max_output_tokens: 1, pricing: 'free', ...on('main') },
    { id: 'gpt-off', kind: 'chat', enabled: false, max_output_tokens: 1, pricing: 'free', ...on('main') },
    { id: 'embed', kind: 'embedding', pricing: 'free', ...on('main') },
    { id: 'play', kind: 'chat', max_output_tokens: 1, pricing: 'free', ...on('box') },
    { id: 'draw', kind: 'image', pricing: { per_image: '1' }, ...on('box') },
  ],
})
if (!decoded.ok) throw new Error('The catalog of this test is wrong.')
const catalog: Catalog = {
  ...EMPTY_CATALOG,
  providers: new Map(decoded.value.providers.map(row => [row.id, row as Provider])),
  models: new Map(decoded.value.models.map(row => [row.id, row as Model])),
}

function on(provider: string) {
  return { upstreams: [{ provider, model: 'm' }] }
}

function messageFor(name: string, change: Partial<ModelSearch> & { readonly sandboxOnly?: boolean } = {}) {
  const { sandboxOnly = false, ...search } = change
  const caller = { account: { sandboxOnly }, apiKey: {} } as Authenticated
  return modelNotFound(name, { catalog, caller, isSandboxOn: true, kind: 'chat', ...search }).message
}

describe('the error for a model that is not found', () => {
  test.each([
    ['embed', '"embed" is an embedding model. Call it at /v1/embeddings.'],
    ['vendor/embed', '"embed" is an embedding model. Call it at /v1/embeddings.'],
    ['draw', '"draw" is an image model. Call it at /v1/images/generations.'],
  ])(
    'the error for a model that is not found names the route of %p, which is of another kind',
    (name, message) => {
      expect(messageFor(name)).toBe(message)
    },
  )

  test.each(['gpt-larg', 'GPT_Large', 'gpt large'])(
    'the error for a model that is not found suggests a near name for %p',
    name => {
      expect(messageFor(name)).toBe(`The model "${name}" does not exist. The nearest name is "gpt-large".`)
    },
  )

  test('the error for a model that is not found suggests nothing for a name that is not near, or very long', () => {
    expect(messageFor('claude')).toBe('The model "claude" does not exist.')
    expect(messageFor(`gpt-large${'e'.repeat(300)}`)).not.toContain('nearest')
  })

  test('the error for a model that is not found suggests no model of another kind, and none that is off', () => {
    expect(messageFor('embedd')).toBe('The model "embedd" does not exist.')
    expect(messageFor('gpt-off')).not.toContain('"gpt-off".')
  })

  test('the error for a model that is not found names no model that the account may not call', () => {
    expect(messageFor('embed', { sandboxOnly: true })).toBe(
      'The sandbox has no model "embed", and this key works only with the sandbox.',
    )
    expect(messageFor('draw', { isSandboxOn: false })).toBe('The model "draw" does not exist.')
    expect(messageFor('gpt-larg', { sandboxOnly: true })).not.toContain('nearest')
  })

  test('the error for a model that is not found suggests models of every kind on a route that serves all', () => {
    expect(messageFor('embedd', { kind: undefined })).toContain('The nearest name is "embed".')
  })
})

describe('a model is not found', () => {
  const call = (name: string, { sandboxOnly = false, isSandboxOn = true } = {}) => {
    const caller = { account: { sandboxOnly }, apiKey: {} } as Authenticated
    return () => callableModel(name, 'chat', { catalog, caller, isSandboxOn })
  }

  test('a model is found if it is on, of the kind of the route, and at a provider that the account may reach', () => {
    expect(call('gpt-large')().id).toBe('gpt-large')
    expect(call('play', { sandboxOnly: true })().id).toBe('play')
  })

  test.each([
    ['is unknown', call('claude')],
    ['is off', call('gpt-off')],
    ['is of another kind', call('embed')],
    ['is not on the sandbox, for a sandbox-only account', call('gpt-large', { sandboxOnly: true })],
    ['is only on the sandbox, which is off', call('play', { isSandboxOn: false })],
  ])('a model is not found if it %s', (_, find) => {
    expect(find).toThrow(expect.objectContaining({ code: 'model_not_found' }))
  })
})
