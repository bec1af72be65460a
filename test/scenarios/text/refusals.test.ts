import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Bytes } from '../../../src/domain/bytes.ts'
import { startTestGateway, type TestAccount } from '../../support/gateway.ts'
import { startUpstream } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

const MEGABYTE = 1 << 20
const HELLO = '{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}'

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('off', { enabled: false }),
      chatModel('draft', { enabled: false, pricing: undefined }),
      chatModel('silent', { upstreams: [{ provider: 'mute', model: 'x' }] }),
      { id: 'embed', kind: 'embedding', upstreams: [{ provider: 'main', model: 'e' }], pricing: 'free' },
    ],
    providers: () => [
      { id: 'mute', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', routes: ['embeddings'] },
      { id: 'box', kind: 'sandbox' },
    ],
    environment: { TOLLGATE_MAX_BODY_MB: '1' },
  })
  ada = await gateway.account({ grant: '1' })
})
afterAll(() => gateway.stop())

// Every request here is refused before it reaches the upstream.
afterEach(async () => {
  expect(gateway.upstream.requests).toHaveLength(0)
  expect(await ada.balance()).toMatchObject({ available_usd: '1', held_usd: '0' })
})

const bytes = (...values: number[]) => Uint8Array.from(values)

describe('400 invalid_json, with the reason, for a body that is', () => {
  test.each<[string, string | Bytes, string]>([
    ['empty', '', 'it is empty'],
    ['an array', '[]', 'an array'],
    ['null', 'null', 'null'],
    ['a string', '"x"', 'a string'],
    ['incomplete', HELLO.slice(0, -1), 'Expected'],
    ['followed by other text', `${HELLO}x`, 'Invalid JSON'],
    ['not UTF-8', bytes(0x7b, 0x22, 0xff, 0x22, 0x7d), 'not valid UTF-8'],
    ['UTF-16', Uint8Array.from(Buffer.from(HELLO, 'utf16le')), 'Invalid JSON'],
    ['a form', 'model=gpt-x', 'Invalid JSON'],
    ['nested very deeply', `{"model":"gpt-x","x":${'['.repeat(200_000)}`, ''],
  ])('the reply is 400 invalid_json, with the reason, for a body that is %s', async (_, body, reason) => {
    const refusal = await refusalOf(await gateway.chat(ada.key, new Blob([body])))

    expect(refusal).toMatchObject({ status: 400, code: 'invalid_json', type: 'invalid_request_error' })
    expect(refusal.message).toContain(reason)
  })
})

describe('400 invalid_field, with the name and a valid value, for', () => {
  test.each([
    ['no model', { model: undefined }, 'model', 'it is missing'],
    ['a model of null', { model: null }, 'model', 'it is missing'],
    ['a model that is not a string', { model: 4 }, 'model', 'a non-empty string'],
    ['an empty model', { model: '' }, 'model', 'a non-empty string'],
    ['no messages', { messages: undefined }, 'messages', 'an array'],
    ['messages that are not an array', { messages: 'Hello' }, 'messages', 'an array'],
    ['a stream that is not a boolean', { stream: 'yes' }, 'stream', 'true or false'],
    ['stream options that are not an object', { stream_options: [] }, 'stream_options', 'an object'],
    [
      'an include_usage that is not a boolean',
      { stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
      'true or false',
    ],
    ['an output ceiling of zero', { max_tokens: 0 }, 'max_tokens', 'at least 1'],
    ['a negative output ceiling', { max_tokens: -1 }, 'max_tokens', 'at least 1'],
    ['a fractional output ceiling', { max_tokens: 1.5 }, 'max_tokens', 'an integer'],
    ['an output ceiling in a string', { max_completion_tokens: '10' }, 'max_completion_tokens', 'an integer'],
    ['zero choices', { n: 0 }, 'n', 'from 1 to 128'],
    ['too many choices', { n: 129 }, 'n', 'from 1 to 128'],
  ])(
    'the reply is 400 invalid_field, with the name and a valid value, for %s',
    async (_, change, param, expected) => {
      const body = { model: 'gpt-x', messages: [], ...change }

      const refusal = await refusalOf(await gateway.chat(ada.key, body))

      expect(refusal).toMatchObject({ status: 400, code: 'invalid_field', param })
      expect(refusal.message).toContain(`"${param}"`)
      expect(refusal.message).toContain(expected)
    },
  )
})

describe('400 ambiguous_field for a field that parsers could read differently:', () => {
  test.each([
    ['model', '"model":"gpt-x","model":"gpt-x"'],
    ['model', '"model":"gpt-x","Model":"gpt-x"'],
    ['model', '"model":"gpt-x","mod\\u0065l":"gpt-x"'],
    ['messages', '"model":"gpt-x","Messages":[]'],
    ['max_tokens', '"model":"gpt-x","max_tokens":1,"max_tokens":2'],
    ['max_completion_tokens', '"model":"gpt-x","max_completion_to\\u212Aens":1'],
    ['n', '"model":"gpt-x","N":2'],
    ['stream', '"model":"gpt-x","stream":false,"\\u0073tream":true'],
  ])(
    'the reply is 400 ambiguous_field for a field that parsers could read differently: %s in %s',
    async (param, members) => {
      const refusal = await refusalOf(await gateway.chat(ada.key, `{${members},"messages":[]}`))

      expect(refusal).toMatchObject({ status: 400, code: 'ambiguous_field', param })
    },
  )
})

describe('401 invalid_api_key for', () => {
  const chat = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: HELLO })

  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['an empty key', { authorization: 'Bearer ', 'x-api-key': '' }],
    ['an unknown key', { authorization: 'Bearer tg_live_unknown' }],
    ['an unknown key in the other header', { 'x-api-key': 'tg_live_unknown' }],
    ['a very long key', { authorization: `Bearer ${'x'.repeat(10_000)}` }],
    ['another scheme', { authorization: 'Basic dTpw' }],
  ])('the reply is 401 invalid_api_key for %s', async (_, headers) => {
    const refusal = await refusalOf(await chat(headers))

    expect(refusal).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' })
  })

  test('the reply is 401 invalid_api_key for a key without its scheme, or with one changed letter', async () => {
    const refusals = [
      await refusalOf(await chat({ authorization: ada.key })),
      await refusalOf(await chat({ 'x-api-key': `${ada.key}x` })),
      await refusalOf(await chat({ 'x-api-key': ada.key.toUpperCase() })),
    ]

    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  test('the reply is 401 invalid_api_key for a revoked key, from the next request on', async () => {
    const { id, key } = await gateway.account({ grant: '0' })
    const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', `accounts/${id}/keys`)
    const before = await fetch(`${gateway.url}/v1/balance`, { headers: { 'x-api-key': key } })

    await gateway.admin('POST', `keys/${data[0]!.id}/revoke`)

    expect(before.status).toBe(200)
    expect(await refusalOf(await chat({ 'x-api-key': key }))).toMatchObject({ code: 'invalid_api_key' })
  })
})

describe('a key is accepted', () => {
  test('a key is accepted from either header, with the scheme in any case', async () => {
    const headers: Record<string, string>[] = [
      { authorization: `Bearer ${ada.key}` },
      { authorization: `bearer  ${ada.key}` },
      { 'x-api-key': ada.key },
      { authorization: 'Basic dTpw', 'x-api-key': ada.key },
    ]

    const statuses = await Promise.all(
      headers.map(async sent => (await fetch(`${gateway.url}/v1/balance`, { headers: sent })).status),
    )

    expect(statuses).toEqual([200, 200, 200, 200])
  })

  test('a key is accepted from Authorization if both are valid', async () => {
    const ben = await gateway.account({ grant: '7' })

    const response = await fetch(`${gateway.url}/v1/balance`, {
      headers: { authorization: `Bearer ${ben.key}`, 'x-api-key': ada.key },
    })

    expect(await response.json()).toMatchObject({ available_usd: '7' })
  })
})

describe('404 model_not_found for', () => {
  test.each([
    ['an unknown model', 'gpt-y'],
    ['a model that is switched off', 'off'],
    ['a model without a price', 'draft'],
    ['a model of another kind', 'embed'],
    ['a name in another case', 'GPT-X'],
    ['a name with a space', ' gpt-x'],
    ['a prefix without a name', 'gpt-x/'],
    ['a name that every object has', '__proto__'],
    ['a very long name', 'x/'.repeat(20_000)],
  ])('the reply is 404 model_not_found for %s', async (_, model) => {
    const refusal = await refusalOf(await gateway.chat(ada.key, { model, messages: [] }))

    expect(refusal).toMatchObject({
      status: 404,
      code: 'model_not_found',
      type: 'not_found_error',
      param: 'model',
    })
    expect(refusal.message.length).toBeLessThan(300)
  })

  test('the reply is 404 model_not_found for a real model, for an account that is limited to the sandbox', async () => {
    const upstream = startUpstream()
    const sandboxed = await startTestGateway()
    try {
      const { key } = await sandboxed.admin<{ key: string }>('POST', 'accounts/demo/keys', {})
      const provider = { kind: 'openai-compatible', base_url: upstream.baseUrl }
      await sandboxed.admin('PUT', 'providers/main', provider)
      await sandboxed.admin('PUT', 'models/gpt-x', chatModel('gpt-x'))

      const listed = (path: string) => fetch(sandboxed.url + path, { headers: { 'x-api-key': key } })
      const list = await (await listed('/v1/models')).text()
      const one = await refusalOf(await listed('/v1/models/gpt-x'))
      const real = await refusalOf(await sandboxed.chat(key, HELLO))
      const made = await sandboxed.chat(key, HELLO.replace('gpt-x', 'sandbox-chat'))

      expect(list).toContain('sandbox-chat')
      expect(list).not.toContain('gpt-x')
      // The message is the same for every name. It explains what the key of the first start is for.
      const message = 'The sandbox has no model "gpt-x", and this key works only with the sandbox.'
      for (const refusal of [one, real])
        expect(refusal).toMatchObject({ status: 404, code: 'model_not_found', message })
      expect(made.status).toBe(200)
      expect(upstream.requests).toHaveLength(0)
    } finally {
      await sandboxed.stop()
      upstream.close()
    }
  })
})

test('the reply is 400 route_not_supported for a model whose upstreams do not serve the route', async () => {
  const refusal = await refusalOf(await gateway.chat(ada.key, { model: 'silent', messages: [] }))

  expect(refusal).toMatchObject({ status: 400, code: 'route_not_supported', param: 'model' })
})

test('the first failing check is the reply', async () => {
  const poor = await gateway.account({ grant: '0' })
  const ask = async (path: string, key: string, body: string) => {
    const response = await fetch(gateway.url + path, { method: 'POST', headers: { 'x-api-key': key }, body })
    return (await refusalOf(response)).code
  }
  const chat = '/v1/chat/completions'
  const large = 'x'.repeat(MEGABYTE + 1)

  const codes = [
    await ask('/v1/nothing', 'unknown', large),
    await ask(chat, 'unknown', large),
    await ask(chat, poor.key, large),
    await ask(chat, poor.key, '{"model":1,'),
    await ask(chat, poor.key, '{"model":1,"model":2}'),
    await ask(chat, poor.key, '{"model":1}'),
    await ask(chat, poor.key, '{"model":"gpt-y","messages":[],"n":0}'),
    await ask(chat, poor.key, '{"model":"gpt-y","messages":[]}'),
    await ask(chat, poor.key, '{"model":"gpt-x","messages":[]}'),
  ]

  expect(codes).toEqual([
    'not_found',
    'invalid_api_key',
    'request_too_large',
    'invalid_json',
    'ambiguous_field',
    'invalid_field',
    'invalid_field',
    'model_not_found',
    'insufficient_balance',
  ])
})
