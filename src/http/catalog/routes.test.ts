import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { EMPTY_CATALOG, type Catalog, type CatalogSettings } from '../../domain/catalog/catalog.ts'
import { isFinished, type Model } from '../../domain/catalog/model.ts'
import { decodeCatalog } from '../../domain/catalog/rows/catalog-rows.ts'
import { GatewayError } from '../../domain/errors.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import type { Handler } from '../request-context.ts'
import { startServer } from '../../http1/server/server.ts'
import { Cors } from '../cors.ts'
import { RefusalPace } from '../../gateway/admission/refusal-pace.ts'
import { requestHandler } from '../request-handler.ts'
import { listModels, publicModels } from './model-lists.ts'
import { modelsRoutes } from './routes.ts'

const MADE_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const upstreams = [{ provider: 'box', model: 'x' }]

const ROWS = {
  providers: [{ id: 'box', kind: 'sandbox' }],
  models: [
    {
      id: 'gpt-x',
      kind: 'chat',
      display_name: 'GPT X',
      description: 'The large one.',
      owned_by: 'example',
      upstreams,
      pricing: { input_per_mtok: '2.50', cached_input_per_mtok: '0', output_per_mtok: '10' },
      max_output_tokens: 16384,
      context_window: 128000,
      inputs: ['text', 'image'],
    },
    { id: 'off', kind: 'chat', enabled: false, upstreams, pricing: 'free', max_output_tokens: 1 },
    { id: 'draft', kind: 'chat', enabled: false, upstreams },
    { id: 'meta/embed', kind: 'embedding', upstreams, pricing: { input_per_mtok: '0.02' } },
    { id: 'gift', kind: 'chat', upstreams, pricing: 'free', max_output_tokens: 1 },
    {
      id: 'resold',
      kind: 'embedding',
      upstreams,
      pricing: 'upstream_cost',
      markup: '1.7',
      ceiling_pricing: { input_per_mtok: '9' },
    },
    {
      id: 'draw',
      kind: 'image',
      upstreams,
      pricing: { per_image: '0.04' },
      params: { resolution: ['1K', '2K'] },
    },
    {
      id: 'film',
      kind: 'video',
      engine: 'family-e-extend',
      upstreams,
      pricing: { per_second: '0.1' },
      fixed_params: { duration: 8 },
    },
    {
      id: 'film-off',
      kind: 'video',
      enabled: false,
      engine: 'family-g',
      upstreams,
      pricing: { per_second: '1' },
    },
  ],
}

function aCatalog(rows: unknown): Catalog {
  const decoded = decodeCatalog(rows)
  if (!decoded.ok) throw new Error(`The catalog of this test is wrong: ${JSON.stringify(decoded.problems)}`)
  const finished: CatalogSettings['models'] = decoded.value.models.filter(row => isFinished(row))
  return {
    ...EMPTY_CATALOG,
    revision: 7,
    updatedAtMs: MADE_AT,
    models: new Map(finished.map(row => [row.id, Object.assign({ createdAtMs: MADE_AT }, row) as Model])),
  }
}

let catalog = aCatalog(ROWS)
const keyed = (handle: (caller: never, context: never) => unknown): Handler => {
  return async context => {
    if (context.request.header('authorization') === null) throw new GatewayError('invalid_api_key', 'No key.')
    return handle({ account: { sandboxOnly: false }, apiKey: {} } as never, context as never) as never
  }
}
const server = startServer({
  host: '127.0.0.1',
  port: 0,
  clock: fakeClock(),
  onHandlerError: () => {},
  handler: requestHandler(
    modelsRoutes({ forAll: () => catalog, forCaller: () => catalog }, keyed, async () => undefined),
    {
      nextId: () => ({ key: 1n, tail: 1n }),
      elapsed: () => 0,
      now: () => 0,
      observe: () => {},
      costHeader: 'x-acme-cost-usd',
      replayHeader: 'x-acme-replay',
      cors: new Cors({ origins: '*', exposedHeaders: [] }),
      refusals: new RefusalPace(fakeClock()),
    },
  ),
})
afterAll(() => server.abort())
beforeEach(() => {
  catalog = aCatalog(ROWS)
})

const ask = (path: string, headers: Record<string, string> = { authorization: 'Bearer k' }) =>
  fetch(server.url + path, { headers })
const read = async (path: string, headers?: Record<string, string>): Promise<Record<string, unknown>> =>
  (await (await ask(path, headers)).json()) as never

describe('GET /v1/models', () => {
  test('GET /v1/models lists the models that are on, of every kind, in the order of the catalog', async () => {
    const list = await read('/v1/models')

    expect((list['data'] as { id: string }[]).map(({ id }) => id)).toEqual([
      'gpt-x',
      'meta/embed',
      'gift',
      'resold',
      'draw',
      'film',
    ])
    expect(list).toMatchObject({ object: 'list', has_more: false, first_id: 'gpt-x', last_id: 'film' })
  })

  test('GET /v1/models has rows that the OpenAI and Anthropic SDKs parse, with limits, inputs and prices', async () => {
    const list = await read('/v1/models')

    expect((list['data'] as unknown[])[0]).toEqual({
      id: 'gpt-x',
      object: 'model',
      created: 1767323045,
      owned_by: 'example',
      kind: 'chat',
      display_name: 'GPT X',
      type: 'model',
      created_at: '2026-01-02T03:04:05.678Z',
      context_window: 128000,
      max_input_tokens: 128000,
      max_output_tokens: 16384,
      max_tokens: 16384,
      inputs: ['text', 'image'],
      pricing: { input_per_mtok: '2.5', cached_input_per_mtok: '0', output_per_mtok: '10' },
    })
  })

  const UNKNOWN = { context_window: null, max_input_tokens: null, max_output_tokens: null, max_tokens: null }
  test.each<[string, object]>([
    ['meta/embed', { ...UNKNOWN, inputs: null, pricing: { input_per_mtok: '0.02' } }],
    ['gift', { ...UNKNOWN, max_output_tokens: 1, max_tokens: 1, inputs: null, pricing: 'free' }],
    ['resold', { ...UNKNOWN, inputs: null, pricing: 'upstream_cost' }],
    ['draw', { ...UNKNOWN, inputs: null, pricing: { per_image: '0.04' } }],
    ['film', { ...UNKNOWN, inputs: null, pricing: { per_second: '0.1' } }],
  ])('GET /v1/models has null for what the row of %s does not say', async (id, facts) => {
    const one = await read(`/v1/models/${id}`)
    const { data } = (await read('/v1/models')) as { data: { id: string }[] }

    expect(one).toMatchObject(facts)
    expect(data.find(row => row.id === id)).toEqual(one as never)
  })

  test('GET /v1/models of an empty catalog is an empty list', async () => {
    catalog = EMPTY_CATALOG

    expect(await read('/v1/models')).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
  })

  test('GET /v1/models needs a key', async () => {
    expect((await ask('/v1/models', {})).status).toBe(401)
    expect((await ask('/v1/models/gpt-x', {})).status).toBe(401)
  })
})

describe('GET /v1/models/{id}', () => {
  test.each([
    ['gpt-x', 'gpt-x'],
    ['openai/gpt-x', 'gpt-x'],
    ['openai%2Fgpt-x', 'gpt-x'],
    ['meta/embed', 'meta/embed'],
    ['meta%2Fembed', 'meta/embed'],
    ['together/meta/embed?x=1', 'meta/embed'],
    ['film', 'film'],
  ])('%s is the row %s', async (name, id) => {
    expect(await read(`/v1/models/${name}`)).toMatchObject({ id, object: 'model' })
  })

  test.each(['off', 'draft', 'none', '%', 'GPT-X', 'gpt-x/'])('%s is 404 model_not_found', async name => {
    const response = await ask(`/v1/models/${name}`)

    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found' } })
  })

  test('GET /v1/models/{id} of a very long name is 404, with a message of limited length', async () => {
    const response = await ask(`/v1/models/${'x'.repeat(5000)}`)

    expect(response.status).toBe(404)
    expect((await response.text()).length).toBeLessThan(400)
  })

  test('GET /v1/models/{id} is 404 as soon as the model is switched off', async () => {
    const before = await ask('/v1/models/gpt-x')
    const rows = ROWS.models.map(row =>
      row.id === 'gpt-x' ? Object.assign({}, row, { enabled: false }) : row,
    )
    catalog = aCatalog({ ...ROWS, models: rows })

    const after = await ask('/v1/models/gpt-x')

    expect([before.status, after.status]).toEqual([200, 404])
    expect(await (await ask('/v1/models')).text()).not.toContain('gpt-x')
  })
})

describe('the public catalog', () => {
  test('the public catalog has the text models with their prices, without a key', async () => {
    expect(await read('/cabinet/api/public/models', {})).toEqual({
      object: 'list',
      currency: 'USD',
      revision: 7,
      updated_at: '2026-01-02T03:04:05.678Z',
      data: [
        {
          id: 'gpt-x',
          kind: 'chat',
          display_name: 'GPT X',
          description: 'The large one.',
          context_window: 128000,
          max_output_tokens: 16384,
          pricing: { input_per_mtok: '2.5', cached_input_per_mtok: '0', output_per_mtok: '10' },
        },
        {
          id: 'meta/embed',
          kind: 'embedding',
          display_name: 'meta/embed',
          description: '',
          context_window: null,
          max_output_tokens: null,
          pricing: { input_per_mtok: '0.02' },
        },
        {
          id: 'gift',
          kind: 'chat',
          display_name: 'gift',
          description: '',
          context_window: null,
          max_output_tokens: 1,
          pricing: 'free',
        },
        {
          id: 'resold',
          kind: 'embedding',
          display_name: 'resold',
          description: '',
          context_window: null,
          max_output_tokens: null,
          pricing: 'upstream_cost',
        },
      ],
    })
  })

  test('the public catalog has the media models with their prices, without their engines', async () => {
    expect(await read('/cabinet/api/public/media-models', {})).toMatchObject({
      object: 'list',
      currency: 'USD',
      revision: 7,
    })
    expect((await read('/cabinet/api/public/media-models', {}))['data']).toEqual([
      {
        id: 'draw',
        kind: 'image',
        display_name: 'draw',
        description: '',
        pricing: { per_image: '0.04' },
        params: { resolution: ['1K', '2K'] },
        fixed_params: {},
        hold_duration_seconds: null,
      },
      {
        id: 'film',
        kind: 'video',
        display_name: 'film',
        description: '',
        pricing: { per_second: '0.1' },
        params: {},
        fixed_params: { duration: 8 },
        hold_duration_seconds: 8,
      },
    ])
  })

  test.each(['/cabinet/api/public/models', '/cabinet/api/public/media-models'])(
    '%s can be cached and read by pages of any origin',
    async path => {
      const { headers } = await ask(path, {})

      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('cache-control')).toBe('public, max-age=30')
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
    },
  )

  test.each([
    ['the ETag itself', (etag: string) => etag],
    ['a weak form of it', (etag: string) => `W/${etag}`],
    ['a list with it', (etag: string) => `"other", ${etag}`],
    ['any', () => '*'],
  ])('the public catalog is 304 for a client that sends %s', async (_, known) => {
    const etag = (await ask('/cabinet/api/public/models', {})).headers.get('etag')!

    const again = await ask('/cabinet/api/public/models', { 'if-none-match': known(etag) })

    expect(again.status).toBe(304)
    expect(again.headers.get('etag')).toBe(etag)
    expect(await again.text()).toBe('')
  })

  test('the public catalog has another ETag after an edit, and is sent again', async () => {
    const etag = (await ask('/cabinet/api/public/models', {})).headers.get('etag')!
    catalog = { ...catalog, revision: 8 }

    const again = await ask('/cabinet/api/public/models', { 'if-none-match': etag })

    expect(again.status).toBe(200)
    expect(again.headers.get('etag')).not.toBe(etag)
  })
})

test('a catalog is rendered once per revision', () => {
  expect(listModels(catalog)).toBe(listModels(catalog))
  expect(publicModels(catalog)).toBe(publicModels(catalog))
  expect(publicModels({ ...catalog })).not.toBe(publicModels(catalog))
})
