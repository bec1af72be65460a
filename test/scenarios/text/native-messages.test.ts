import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer, json, sse } from '../../support/upstream-replies.ts'
import {
  eventsOf,
  NATIVE_KEY,
  openedStream,
  startNativeGateway,
  type NativeGateway,
} from '../gateways/native-gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { DONE, FINISH, HEL, LO, ROLE, usage as usageFrame } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: NativeGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startNativeGateway()
  ada = await gateway.account()
})
afterAll(async () => {
  const { problems } = await gateway.admin<{ problems: unknown[] }>('POST', 'verify')
  expect(problems).toEqual([])
  await gateway.stop()
})

/** The last request that the native upstream got. */
const sent = () => gateway.native.ledger().at(-1)!
/** A stream as the provider writes it. */
const NATIVE_EVENTS = [
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('ping', {}),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hel' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'lo' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  event('message_stop', {}),
]

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' }

describe('the native upstream gets', () => {
  test('the native upstream gets the body byte for byte, with its own name of the model', async () => {
    const body =
      '{ "model" : "native","max_tokens":100,"thinking":{"type":"enabled","budget_tokens":1024.0},"max_tokens_":1e2,' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"\\u0048i","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}'
    const fits = body.replace('"max_tokens":100', '"max_tokens":2000')

    await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}` },
      body: fits,
    })

    expect(sent().text).toBe(fits.replace('"native"', '"claude-x"'))
  })

  test('the native upstream gets the row’s output ceiling if the request has none', async () => {
    await gateway.ask(ada, { max_tokens: undefined })
    const absent = sent().body
    await gateway.ask(ada, { max_tokens: null })

    expect(absent).toEqual({
      model: 'claude-x',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(sent().body).toEqual(absent)
  })

  test('the native upstream gets its key and the version of the API, and nothing of the client’s key', async () => {
    await gateway.ask(ada, {})
    const { headers } = sent()

    expect(headers).toMatchObject({ 'x-api-key': NATIVE_KEY, 'anthropic-version': '2023-06-01' })
    expect(JSON.stringify(headers)).not.toContain(ada.key)
    expect(headers['authorization']).toBeUndefined()
  })

  test('the native upstream gets the client’s version and betas', async () => {
    const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-2025-01-01, b-2025-01-01' }

    await gateway.ask(ada, {}, { headers })

    expect(sent().headers).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-2025-01-01,b-2025-01-01',
    })
  })

  test('the native upstream gets only the betas that its row lists', async () => {
    const headers = { 'anthropic-beta': 'files-api-2025-04-14,context-1m-2025-08-07' }

    await gateway.ask(ada, { model: 'picky' }, { headers })
    const listed = sent().headers['anthropic-beta']
    await gateway.ask(ada, { model: 'picky' }, { headers: { 'anthropic-beta': 'files-api-2025-04-14' } })

    expect(listed).toBe('context-1m-2025-08-07')
    expect(sent().headers['anthropic-beta']).toBeUndefined()
  })
})

describe('a JSON answer', () => {
  test('a JSON answer passes through with the row’s name, and its cost in the header and the usage', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }

    const response = await gateway.ask(ada, { thinking, max_tokens: 2000 })
    const message = (await response.json()) as Record<string, unknown>

    expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
    expect(message).toMatchObject({
      type: 'message',
      model: 'native',
      content: [
        { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'Hello, world.' },
      ],
      usage: { input_tokens: 10, output_tokens: 5, service_tier: 'standard', cost_usd: '0.00007' },
    })
  })

  test('a JSON answer is charged in its buckets', async () => {
    const eve = await gateway.account()
    gateway.native.script({
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 5,
      },
    })

    await gateway.ask(eve, {})
    const [charge] = await gateway.charges(eve)

    // 10 × 2 + 1000 × 0.2 + 100 × 2.5 + 200 × 4 + 5 × 10 USD per million.
    expect(charge).toMatchObject({
      cost_usd: '0.00132',
      source: 'reported',
      route: 'messages',
      usage: {
        input_tokens: 1310,
        cached_input_tokens: 1000,
        cache_write_tokens: 100,
        cache_write_1h_tokens: 200,
        output_tokens: 5,
      },
    })
  })
})

describe('a server tool', () => {
  test('a server tool that the row does not price is refused', async () => {
    const before = gateway.native.ledger().length

    const response = await gateway.ask(ada, { tools: [WEB_SEARCH] })

    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unpriced_feature' })
    expect(gateway.native.ledger().length).toBe(before)
  })

  test('a server tool is charged for each use, and its allowed uses are held', async () => {
    const eve = await gateway.account({ grant: '0.03' })
    const use = { server_tool_use: { web_search_requests: 2 } }
    gateway.native.script({ usage: use }, { usage: use })
    const ask = (uses: number) =>
      gateway.ask(eve, { model: 'searching', tools: [{ ...WEB_SEARCH, max_uses: uses }] })

    const refused = await refusalOf(await ask(3))
    await ask(2)
    const [charge] = await gateway.charges(eve)

    expect(refused).toMatchObject({ status: 402 })
    expect(charge).toMatchObject({ cost_usd: '0.02007', usage: { server_tool_uses: 2 } })
  })

  test.each([
    { type: 'custom', name: 'mine', input_schema: { type: 'object' } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
  ])('a server tool is not a tool of type $type', async tool => {
    const { status } = await gateway.ask(ada, { tools: [tool] })

    expect(status).toBe(200)
  })

  test('a server tool of an unknown type counts as one', async () => {
    const response = await gateway.ask(ada, { tools: [{ type: 'oracle_20270101', name: 'oracle' }] })

    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unpriced_feature' })
  })
})

test.each([
  ['speed', 'fast', 'standard'],
  ['inference_geo', 'us', 'global'],
])('a %s with another price is refused', async (field, unpriced, priced) => {
  const response = await gateway.ask(ada, { [field]: unpriced })
  const { error } = (await response.clone().json()) as { error: { message: string } }

  expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unpriced_feature' })
  expect(error.message).toBe(`"${field}" must be "${priced}" or absent: other values have no price.`)
  expect((await gateway.ask(ada, { [field]: priced })).status).toBe(200)
})

test.each([
  [{ fallbacks: 'default' }, 'fallbacks'],
  [{ fallbacks: [{ model: 'claude-large' }] }, 'fallbacks'],
  [{ fallbacks: [{ model: 'claude-x', speed: 'fast' }] }, 'fallbacks'],
  [
    { tools: [WEB_SEARCH, { type: 'advisor_20260301', name: 'advisor', model: 'claude-large' }] },
    'tools[1].type',
  ],
])('%j is refused, because it names another model', async (more, param) => {
  const before = gateway.native.ledger().length

  const response = await gateway.ask(ada, { model: 'searching', ...more })
  const { error } = (await response.clone().json()) as { error: { param: string } }

  expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unpriced_feature' })
  expect(error.param).toBe(param)
  expect(gateway.native.ledger().length).toBe(before)
})

test.each([{ fallbacks: null }, { fallbacks: [] }])('%j names no other model', async more => {
  expect((await gateway.ask(ada, more)).status).toBe(200)
})

test.each([
  ['JSON answer', false],
  ['stream', true],
])('a compaction in a %s is charged beside the answer', async (_, stream) => {
  const eve = await gateway.account()
  const iterations = [
    { type: 'compaction', input_tokens: 100, output_tokens: 20 },
    { type: 'message', input_tokens: 10, output_tokens: 5 },
  ]
  gateway.native.script({ usage: { input_tokens: 10, output_tokens: 5, iterations } })

  await (await gateway.ask(eve, { stream })).text()
  const [charge] = await gateway.charges(eve)

  // 110 × 2 + 25 × 10 USD per million.
  expect(charge).toMatchObject({ cost_usd: '0.00047', usage: { input_tokens: 110, output_tokens: 25 } })
})

describe('a stream', () => {
  test('a stream arrives event by event, with the row’s name at its start and the cost at its end', async () => {
    const [start, ...middle] = NATIVE_EVENTS.slice(0, -2)
    const stream = await openedStream(gateway, ada, { model: 'scripted', first: start! })
    const seen: string[] = []

    for (const event of middle) {
      await stream.write(event)
      seen.push(await stream.read())
    }
    await stream.write(NATIVE_EVENTS.slice(-2).join(''))
    const end = eventsOf(await stream.read())

    expect(stream.first).toBe(start!.replace('claude-x', 'scripted'))
    expect(seen).toEqual(middle)
    expect(end).toEqual([
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 5, cost_usd: '0.00007' },
      },
      { type: 'message_stop' },
    ])
  })

  test('a stream has no cost header', async () => {
    const response = await gateway.ask(ada, { stream: true })
    await response.text()

    expect(response.headers.get('x-service-cost-usd')).toBeNull()
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  })

  test('a stream that breaks off after output is charged its reported input and what was produced', async () => {
    const eve = await gateway.account()
    gateway.native.script({
      usage: { input_tokens: 10, cache_read_input_tokens: 1000 },
      breakAfter: 5,
      breakWith: 'reset',
    })

    const body = await (await gateway.ask(eve, { stream: true })).text()
    const [charge] = await gateway.charges(eve)

    expect(eventsOf(body).at(-1)).toMatchObject({ type: 'error', error: { type: 'upstream_error' } })
    // "Hello, world." is four tokens.
    expect(charge).toMatchObject({
      source: 'estimated',
      usage: { input_tokens: 1010, cached_input_tokens: 1000, output_tokens: 4 },
      cost_usd: '0.00026',
    })
  })

  test('a stream that breaks off before output costs nothing', async () => {
    const eve = await gateway.account()
    gateway.native.script({ breakAfter: 1, breakWith: 'reset' })

    const body = await (await gateway.ask(eve, { stream: true })).text()

    expect(eventsOf(body).at(-1)).toMatchObject({ type: 'error' })
    expect(await gateway.charges(eve)).toEqual([])
  })

  test('a stream with an error of the provider ends with that error, which does not count as output', async () => {
    const eve = await gateway.account()
    gateway.native.script({ breakAfter: 1, breakWith: 'error' })

    const events = eventsOf(await (await gateway.ask(eve, { stream: true })).text())

    expect(events.map(({ type }) => type)).toEqual(['message_start', 'error'])
    expect(events.at(-1)).toMatchObject({ error: { type: 'overloaded_error', message: 'Overloaded' } })
    expect(await gateway.charges(eve)).toEqual([])
  })

  test('a stream that its client leaves is charged what was produced until then', async () => {
    const eve = await gateway.account()
    const leaving = new AbortController()
    const first = NATIVE_EVENTS.slice(0, 4).join('')
    const { exchange } = await openedStream(gateway, eve, {
      model: 'scripted',
      first,
      signal: leaving.signal,
    })

    leaving.abort()
    await exchange.closed
    await until('the stream is charged', async () => (await gateway.charges(eve)).length === 1)

    // 10 × 2 USD, as reported, and one token × 10 USD per million.
    expect(await gateway.charges(eve)).toMatchObject([{ source: 'estimated', cost_usd: '0.00003' }])
    expect(await eve.balance()).toMatchObject({ held_usd: '0' })
  })
})

describe('a row with native and chat upstreams', () => {
  const CHAT_STREAM = [ROLE, HEL, LO, FINISH, usageFrame(), DONE]

  test('a row with native and chat upstreams answers from chat when the native upstream fails', async () => {
    gateway.native.script({ error: 'overloaded-error', status: 529 })
    gateway.upstream.reply(chatAnswer({ content: 'Hi from chat.' }))

    const message = (await (await gateway.ask(ada, { model: 'mixed' })).json()) as object

    expect(message).toMatchObject({
      type: 'message',
      model: 'mixed',
      content: [{ type: 'text', text: 'Hi from chat.' }],
      usage: { cost_usd: '0.00007' },
    })
  })

  test('a row with native and chat upstreams streams from chat, live, when the native upstream fails before the first byte', async () => {
    gateway.native.script({ breakAfter: 0, breakWith: 'error' })
    gateway.upstream.reply(sse(CHAT_STREAM))

    const events = eventsOf(await (await gateway.ask(ada, { model: 'mixed', stream: true })).text())

    expect(gateway.upstream.requests.at(-1)!.json()).toMatchObject({
      model: 'gpt-x',
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('a row with native and chat upstreams skips a chat upstream that cannot express the request', async () => {
    gateway.native.script({ error: 'overloaded-error', status: 529 })
    const before = gateway.upstream.requests.length
    const content = [{ type: 'hologram', source: {} }]

    const response = await gateway.ask(ada, { model: 'mixed', messages: [{ role: 'user', content }] })

    expect(response.status).toBe(529)
    expect(gateway.upstream.requests.length).toBe(before)
  })

  test('a row with native and chat upstreams skips a chat upstream for a request with a server tool', async () => {
    gateway.native.script({ error: 'overloaded-error', status: 529 })
    const before = gateway.upstream.requests.length

    const response = await gateway.ask(ada, { model: 'searching', tools: [WEB_SEARCH] })

    expect(response.status).toBe(529)
    expect(gateway.upstream.requests.length).toBe(before)
  })

  test('a row with native and chat upstreams serves chat requests from its chat upstream', async () => {
    gateway.upstream.reply(chatAnswer())

    const response = await gateway.chat(ada.key, {
      model: 'mixed',
      messages: [{ role: 'user', content: 'Hi' }],
    })

    expect(response.status).toBe(200)
  })
})

test('a row with only native upstreams has no chat route', async () => {
  const response = await gateway.chat(ada.key, {
    model: 'native',
    messages: [{ role: 'user', content: 'Hi' }],
  })

  expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'route_not_supported' })
})

describe('an error of the native provider', () => {
  test('an error of the native provider about the request reaches the client in the route’s form', async () => {
    const response = await gateway.ask(ada, { thinking: { type: 'enabled', budget_tokens: 5 } })

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'thinking.budget_tokens: must be at least 1024' },
    })
  })

  test.each([
    ['no-credit', 400, 502, 'upstream_error'],
    ['authentication-error', 401, 502, 'upstream_error'],
    ['rate-limit-error', 429, 429, 'rate_limited'],
  ])('%s is not the client’s fault', async (error, status, shown, code) => {
    gateway.native.script({ error, status })

    const response = await gateway.ask(ada, {})
    const text = await response.clone().text()

    expect(await refusalOf(response)).toMatchObject({ status: shown, code })
    expect(text).not.toContain('credit')
    expect(text).not.toContain('0c4b8a1e')
  })

  test.each([true, false])('overload keeps its status, type and wait, with stream: %p', async stream => {
    const eve = await gateway.account()
    gateway.native.script({ error: 'overloaded-error', status: 529, headers: { 'retry-after': '7' } })

    const response = await gateway.ask(eve, { stream })

    expect(response.status).toBe(529)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(response.headers.get('request-id')).toStartWith('req_')
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded', param: null },
    })
    expect(await eve.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
  })

  test('a 413 says that the provider refused the request', async () => {
    gateway.native.script({ error: 'request-too-large', status: 413 })

    const response = await gateway.ask(ada, {})

    expect(await refusalOf(response)).toMatchObject({
      status: 413,
      type: 'request_too_large',
      message: expect.stringMatching(
        /^The provider of the model refused this request of \d+ bytes as too large: Request exceeds the maximum size\.$/,
      ),
    })
  })

  test('an answer that is not a message counts as a failure', async () => {
    gateway.upstream.reply(json({ hello: 'world' }))
    gateway.native.script({ error: 'api-error', status: 200 })

    expect(await refusalOf(await gateway.ask(ada, {}))).toMatchObject({ status: 502 })
  })
})
