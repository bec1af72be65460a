import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import { until } from '../../support/until.ts'
import { refusalOf } from './refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE } from '../../support/stream-frames.ts'

let gateway: ScriptedGateway

beforeEach(async () => {
  const sandbox = (model: string) => [{ provider: 'box', model }]
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x', { upstreams: sandbox('chat') }),
      chatModel('gpt-y', { upstreams: sandbox('chat') }),
      chatModel('streamed'),
      { id: 'embed', kind: 'embedding', upstreams: sandbox('embed'), pricing: { input_per_mtok: '2' } },
      { id: 'draw', kind: 'image', upstreams: sandbox('image'), pricing: { per_image: '1' }, params: {} },
      {
        id: 'film',
        kind: 'video',
        engine: 'family-g',
        upstreams: sandbox('video'),
        pricing: { per_second: '1' },
      },
    ],
    providers: () => [{ id: 'box', kind: 'sandbox', routes: ['chat', 'responses', 'embeddings'] }],
    environment: { TOLLGATE_REPLAY_TTL_S: '60', TOLLGATE_TRUST_PROXY: '127.0.0.1, ::1' },
  })
})
afterEach(() => gateway.stop())

type Holder = { readonly key: string; readonly keyId: string; readonly accountId: string }

/** An account with 1000 USD, and a key that was created with these settings. */
async function aKey(settings: object = {}): Promise<Holder> {
  const { id: accountId } = await gateway.account({ grant: '1000' })
  const path = `accounts/${accountId}/keys`
  const created = await gateway.admin<{ id: string; key: string }>('POST', path, settings)
  return { accountId, keyId: created.id, key: created.key }
}

const change = ({ keyId }: Holder, settings: object) =>
  gateway.admin<Record<string, unknown>>('PATCH', `keys/${keyId}`, settings)

const chat = (model: string, more: object = {}) => ({
  path: '/v1/chat/completions',
  body: { model, max_tokens: 5, messages: [{ role: 'user', content: 'hello' }], ...more },
})

/** A request of each route. Its body does not have to be valid. */
const requests = {
  chat_completions: chat('gpt-x'),
  responses: { path: '/v1/responses', body: { model: 'gpt-x', input: 'hello' } },
  messages: { path: '/v1/messages', body: { ...chat('gpt-x').body } },
  'messages/count_tokens': { path: '/v1/messages/count_tokens', body: { ...chat('gpt-x').body } },
  embeddings: { path: '/v1/embeddings', body: { model: 'embed', input: 'hello' } },
  images: { path: '/v1/images/generations', body: { model: 'draw', prompt: 'a cat' } },
  'images/edits': { path: '/v1/images/edits', body: { model: 'draw', prompt: 'a cat' } },
  'images/jobs': { path: '/v1/images/jobs/img_1', body: undefined },
  videos: { path: '/v1/videos', body: { model: 'film', prompt: 'a cat' } },
  'videos/extend': { path: '/v1/videos/extend', body: { model: 'film', prompt: 'a cat' } },
  'videos/job': { path: '/v1/videos/vid_1', body: undefined },
  'videos/content': { path: '/v1/videos/vid_1/content', body: undefined },
} as const
type Request = { readonly path: string; readonly body: object | undefined }

function send(
  { key }: Pick<Holder, 'key'>,
  { path, body }: Request,
  headers: Record<string, string> = {},
): Promise<Response> {
  const from = { 'x-forwarded-for': '10.0.0.9' }
  return fetch(gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, ...from, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const groupOf = (name: string) => name.split('/')[0] ?? ''

describe.each(Object.entries(requests))('a restricted key on the route %s', (name, request) => {
  test('a restricted key is answered on its own route, and refused on another before the body is read', async () => {
    const own = await aKey({ routes: [groupOf(name)] })
    const other = await aKey({ routes: [groupOf(name) === 'images' ? 'videos' : 'images'] })

    const allowed = await send(own, request)
    const refused = await send(other, { ...request, body: request.body && { not: 'valid' } })

    await allowed.arrayBuffer()
    expect([200, 202, 404]).toContain(allowed.status)
    expect(await refusalOf(refused)).toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'route_not_allowed',
    })
    expect(refused.headers.get('x-should-retry')).toBe('false')
  })

  test('a restricted key from another address is refused', async () => {
    const holder = await aKey({ allowed_addresses: ['192.168.0.0/16', 'fd00::/8'] })

    const refused = await refusalOf(await send(holder, request))

    expect(refused).toMatchObject({ status: 403, code: 'address_not_allowed' })
  })

  test('a restricted key that is expired is refused', async () => {
    const holder = await aKey({ expires_at: new Date(gateway.clock.now() + 1000).toISOString() })
    gateway.clock.advance(1000)

    const refused = await refusalOf(await send(holder, request))

    expect(refused).toMatchObject({ status: 401, code: 'key_expired' })
  })

  test('a restricted key is refused while it is disabled', async () => {
    const holder = await aKey()
    await change(holder, { disabled: true })
    const disabled = await send(holder, request)
    await change(holder, { disabled: false })
    const enabled = await send(holder, request)

    await enabled.arrayBuffer()
    expect(await refusalOf(disabled)).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'key_disabled',
    })
    expect([200, 202, 404]).toContain(enabled.status)
  })
})

describe('the models of a key', () => {
  test.each([
    ['chat_completions', chat('gpt-y'), 404],
    ['responses', { path: '/v1/responses', body: { model: 'gpt-y', input: 'hello' } }, 404],
    ['messages', { path: '/v1/messages', body: { ...chat('gpt-y').body } }, 404],
    ['count_tokens', { path: '/v1/messages/count_tokens', body: { ...chat('gpt-y').body } }, 404],
    ['a name with a provider', chat('openai/gpt-y'), 404],
    ['embeddings', requests.embeddings, 404],
    // The media routes answer an unknown model with 400.
    ['images', requests.images, 400],
    ['videos', requests.videos, 400],
  ])('another model is unknown to the key: %s', async (_, request, status) => {
    const holder = await aKey({ models: ['gpt-x', 'claude-*'] })

    const refusal = await refusalOf(await send(holder, request))

    expect(refusal).toMatchObject({ status, code: 'model_not_found' })
    expect(refusal.message).not.toMatch(/is an? .* model|nearest name is "(?!gpt-x)/)
    await expectNothingHeld(gateway, { id: holder.accountId })
  })

  test('a kept answer is not given to a key that may no longer call its model', async () => {
    const holder = await aKey({ models: ['gpt-*'] })
    const first = await send(holder, chat('gpt-y'))
    const repeat = await send(holder, chat('gpt-y'))
    await change(holder, { models: ['gpt-x'] })

    const refused = await send(holder, chat('gpt-y'))

    expect([first.status, repeat.status]).toEqual([200, 200])
    expect([first, repeat].map(({ headers }) => headers.get('x-service-replay'))).toEqual([null, 'true'])
    expect(await refusalOf(refused)).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test('an earlier job is not given to a key that may no longer call its model', async () => {
    const holder = await aKey()
    const once = { 'idempotency-key': 'order-1' }
    const first = await send(holder, requests.images, once)
    const repeat = await send(holder, requests.images, once)
    await change(holder, { models: ['gpt-x'] })

    const refused = await send(holder, requests.images, once)

    expect([first.status, repeat.status]).toEqual([200, 200])
    expect(await repeat.json()).toEqual(await first.json())
    expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'model_not_found' })
  })

  test.each([
    [{}, ['gpt-x', 'gpt-y', 'streamed', 'embed'], ['draw', 'film']],
    [{ models: ['gpt-*', 'draw'] }, ['gpt-x', 'gpt-y'], ['draw']],
    [{ routes: ['embeddings', 'videos'] }, ['embed'], ['film']],
    [{ models: ['*'], routes: ['messages'] }, ['gpt-x', 'gpt-y', 'streamed'], [] as string[]],
  ])('the lists have only the models that the key may call: %j', async (settings, text, media) => {
    const { key } = await aKey(settings)
    const idsAt = async (path: string) =>
      (await gateway.read<{ data: { id: string }[] }>(key, path)).data.map(({ id }) => id)

    const lists = [
      await idsAt('/cabinet/api/public/models'),
      await idsAt('/cabinet/api/public/media-models'),
      await idsAt('/v1/models'),
    ]

    expect(lists).toEqual([text, media, [...text, ...media]])
    const missing = await send({ key }, { path: '/v1/models/film', body: undefined })
    expect(missing.status).toBe(media.includes('film') ? 200 : 404)
  })

  test('the public lists for a key are not cached for others', async () => {
    const { key } = await aKey({ models: ['gpt-x'] })
    const path = '/cabinet/api/public/models'
    const cacheOf = async (headers: Record<string, string>) => {
      const reply = await fetch(gateway.url + path, { headers })
      return ['cache-control', 'vary'].map(name => reply.headers.get(name))
    }

    const vary = 'authorization, x-api-key, api-key'
    expect(await cacheOf({ 'x-api-key': key })).toEqual(['private, max-age=30', vary])
    expect(await cacheOf({})).toEqual(['public, max-age=30', vary])
    expect(await cacheOf({ 'x-api-key': 'tg_live_unknown' })).toEqual(['public, max-age=30', vary])
  })
})

describe('the addresses of a key', () => {
  const statusFor = async (holder: Holder, headers: Record<string, string>) => {
    const reply = await send(holder, chat('gpt-x'), headers)
    await reply.text()
    return reply.status
  }

  test.each([
    ['10.0.0.9', 200],
    ['::ffff:10.0.0.9', 200],
    ['::ffff:a00:9', 200],
    ['2001:db8::1', 200],
    ['11.0.0.9', 403],
    ['::1', 403],
    // A customer can put any address before the one that the proxy adds.
    ['10.0.0.9, 203.0.113.7', 403],
    ['10.0.0.9, 203.0.113.7, 127.0.0.1', 403],
    ['203.0.113.7, 10.0.0.9', 200],
    // Then the address of the proxy, which is allowed, must not count as the client's.
    ['unknown', 403],
    ['', 403],
  ])(
    'the addresses of a key are compared with the client that the proxy names: %p',
    async (named, status) => {
      const holder = await aKey({ allowed_addresses: ['10.0.0.0/8', '2001:db8::/32', '127.0.0.1'] })

      expect(await statusFor(holder, { 'x-forwarded-for': named })).toBe(status)
    },
  )

  test('the addresses of a key apply to every read', async () => {
    const holder = await aKey({ allowed_addresses: ['192.0.2.7'] })
    const paths = ['/v1/models', '/v1/balance', '/v1/key', '/v1/usage', '/v1/statement']

    const replies = await Promise.all(paths.map(path => send(holder, { path, body: undefined })))

    expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 403))
  })

  test('the reads that every key may make have no route', async () => {
    const holder = await aKey({ routes: ['videos'] })
    const paths = ['/v1/models', '/v1/balance', '/v1/credits', '/v1/key', '/v1/usage', '/v1/statement']

    const replies = await Promise.all(paths.map(path => send(holder, { path, body: undefined })))

    expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 200))
  })
})

test('a key expires by the clock of the gateway, and a stream that runs then ends as usual', async () => {
  const { promise: expired, resolve: expire } = Promise.withResolvers<void>()
  gateway.upstream.reply(async exchange => {
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.write(chunk(ROLE + HEL))
    await expired
    await exchange.write(chunk(FINISH + DONE))
    await exchange.write('0\r\n\r\n')
  })
  const expiresAt = gateway.clock.now() + 5_000
  const holder = await aKey({ expires_at: new Date(expiresAt).toISOString() })
  const running = await send(holder, chat('streamed', { stream: true }))

  gateway.clock.advance(5_000)
  const refused = await send(holder, chat('gpt-x'))
  expire()

  expect(await running.text()).toContain('[DONE]')
  expect(await refusalOf(refused)).toMatchObject({
    status: 401,
    code: 'key_expired',
    message: `This API key expired at ${new Date(expiresAt).toISOString()}.`,
  })
  await expectNothingHeld(gateway, { id: holder.accountId })
})

describe('the operator', () => {
  test('models that the catalog does not have are accepted with a warning', async () => {
    const holder = await aKey()
    const limits = { limits: { requests_per_minute: 60 } }
    const perModel = { 'gpt-xx': limits, 'gpt-x': limits, gone: null }

    const changed = await change(holder, { models: ['gpt-*', 'drew', 'x-*'], per_model: perModel })
    const ofAccount = await gateway.admin('PATCH', `accounts/${holder.accountId}`, {
      per_model: { film2: limits },
      key_defaults: { models: ['x-*'] },
    })
    const unnamed = await change(holder, { budgets: { day: '5' } })

    expect(changed).toMatchObject({
      models: ['gpt-*', 'drew', 'x-*'],
      warnings: [
        'There is no model "gpt-xx" now (did you mean "gpt-x"?). Until there is one, its limits apply to no request.',
        'There is no model "drew" now (did you mean "draw"?). Until there is one, this name allows nothing.',
        'No model matches "x-*" now.',
      ],
    })
    expect(ofAccount).toMatchObject({
      warnings: [expect.stringContaining('There is no model "film2" now'), 'No model matches "x-*" now.'],
    })
    expect(unnamed).toMatchObject({ warnings: [] })
  })

  test('the operator creates and changes a key in one step, and the holder sees what it may use', async () => {
    const settings = {
      models: ['gpt-*'],
      routes: ['chat_completions'],
      expires_at: '2100-01-01T00:00:00.000Z',
      allowed_addresses: ['10.0.0.0/8'],
    }
    const limits = { limits: { requests_per_minute: 60 }, budgets: { month: '20' } }
    const holder = await aKey({ name: 'laptop', ...settings, ...limits })

    const created = await gateway.admin('GET', `keys/${holder.keyId}`)
    const own = await (await send(holder, { path: '/v1/key', body: undefined })).json()
    const changed = await change(holder, {
      name: ' desktop ',
      models: null,
      routes: ['images'],
      limits: { requests_per_minute: null },
      disabled: true,
    })

    const shown = { ...settings, limits: { requests_per_minute: 60 }, budgets: { month: '20' } }
    expect(created).toMatchObject({ ...shown, name: 'laptop', disabled_at: null, last_used_on: null })
    const { allowed_addresses: _, ...seen } = shown
    expect(own).toMatchObject({ id: holder.keyId, name: 'laptop', disabled_at: null, ...seen })
    expect(own).not.toHaveProperty('allowed_addresses')
    expect(changed).toMatchObject({
      ...settings,
      name: 'desktop',
      models: null,
      routes: ['images'],
      limits: { requests_per_minute: null },
      budgets: { month: '20' },
      disabled_at: expect.any(String),
    })
    const { data } = await gateway.admin<{ data: { action: string; subject: string }[] }>('GET', 'audit')
    expect(data.filter(({ subject }) => subject === holder.keyId).map(({ action }) => action)).toEqual([
      'key.disable',
      'key.update',
      'key.rename',
      'key.limits',
      'key.limits',
      'key.create',
    ])
    await expectNothingHeld(gateway, { id: holder.accountId })
  })

  test.each([
    [{ models: 'gpt-x' }, 'models'],
    [{ routes: ['chat'] }, 'routes[0]'],
    [{ expires_at: 1_800_000_000 }, 'expires_at'],
    [{ expires_at: '2026-01-01T00:00:00Z' }, 'expires_at'],
    [{ allowed_addresses: ['10.0.0.1/8'] }, 'allowed_addresses[0]'],
    [{ limits: { requests_per_minute: '60' } }, 'limits.requests_per_minute'],
    [{ disabled: 'yes' }, 'disabled'],
    [{ name: 7 }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ disabled: null }, 'disabled'],
    [{ expires: '2100-01-01T00:00:00Z' }, 'expires'],
    [{}, undefined],
  ])('the operator gets 400 with the path of the field, and nothing changes: %j', async (wrong, param) => {
    const holder = await aKey({ models: ['gpt-x'] })
    const before = await gateway.admin('GET', `keys/${holder.keyId}`)
    const body = JSON.stringify({ ...wrong, ...(param === undefined ? {} : { budgets: { day: '1' } }) })

    const reply = await fetch(`${gateway.url}/admin/api/keys/${holder.keyId}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer tg_admin_for_tests' },
      body,
    })

    expect(await refusalOf(reply)).toMatchObject({
      status: 400,
      code: 'invalid_field',
      param: param ?? null,
    })
    expect(await gateway.admin('GET', `keys/${holder.keyId}`)).toEqual(before as object)
  })

  test('the operator sees the day on which a key was last used, some seconds later', async () => {
    const holder = await aKey()
    const usedOn = async () =>
      (await gateway.admin<{ last_used_on: string | null }>('GET', `keys/${holder.keyId}`)).last_used_on
    const today = new Date(gateway.clock.now()).toISOString().slice(0, 10)
    await (await send(holder, chat('gpt-x'))).text()
    const before = await usedOn()

    gateway.clock.advance(10_000)
    await until('the day is written', async () => (await usedOn()) !== before)

    expect([before, await usedOn()]).toEqual([null, today])
  })
})

test('a key that was refused was not used', async () => {
  const holder = await aKey({ routes: ['images'] })

  await (await send(holder, chat('gpt-x'))).text()
  gateway.clock.advance(10_000)

  expect(await gateway.admin('GET', `keys/${holder.keyId}`)).toMatchObject({ last_used_on: null })
})
