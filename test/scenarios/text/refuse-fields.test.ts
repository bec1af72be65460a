import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { json } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  UPSTREAM_KEY,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { chatCompletion, responseAnswer } from './text-routes.ts'

const refuseFields = {
  service_tier: ['default'],
  'tools[].type': ['function'],
  web_search_options: [],
  'extra_body.google.tools': [],
}
const HI = [{ role: 'user', content: 'Hi' }]
const MESSAGE = { type: 'message', role: 'assistant', content: [], model: 'x', stop_reason: 'max_tokens' }

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  const upstream = (provider: string, order = 1) => ({ provider, model: 'x', order })
  gateway = await startScriptedGateway({
    providers: baseUrl => [
      { id: 'strict', kind: 'openai-compatible', base_url: baseUrl, refuse_fields: refuseFields },
      {
        id: 'claude',
        kind: 'anthropic',
        base_url: baseUrl,
        refuse_fields: { service_tier: ['standard_only'] },
      },
    ],
    models: [
      chatModel('plain'),
      chatModel('gpt-x', { refuse_fields: refuseFields }),
      chatModel('live', { refuse_fields: { 'tools[].function.name': [] }, messages_stream: 'live' }),
      chatModel('strict', { upstreams: [upstream('strict')] }),
      chatModel('both', { upstreams: [upstream('strict')], refuse_fields: { logprobs: [false] } }),
      chatModel('either', { upstreams: [upstream('strict'), upstream('main', 2)] }),
      chatModel('claude', { upstreams: [upstream('claude')] }),
      chatModel('claude-or-chat', { upstreams: [upstream('claude'), upstream('main', 2)] }),
      chatModel('neither', {
        upstreams: [upstream('claude'), upstream('main', 2)],
        refuse_fields: { 'tools[].function.name': [] },
      }),
      {
        id: 'embed-x',
        kind: 'embedding',
        upstreams: [upstream('main')],
        pricing: { input_per_mtok: '2' },
        refuse_fields: { service_tier: [] },
      },
    ],
  })
  ada = await gateway.account({ grant: '1' })
})
afterAll(() => gateway.stop())

function post(path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** Sends a request that must be refused, and returns the field that the refusal names. */
async function refused(path: string, body: object): Promise<string | undefined> {
  const before = gateway.upstream.requests.length
  const refusal = await refusalOf(await post(path, body))
  expect(refusal).toMatchObject({ status: 400, type: 'invalid_request_error', code: 'unpriced_feature' })
  expect(gateway.upstream.requests.length).toBe(before)
  await expectNothingHeld(gateway, ada)
  return refusal.param
}

describe('a request with a field that its row or its provider refuses gets a 400 and reaches no provider', () => {
  const chat = { model: 'gpt-x', messages: HI }
  test.each([
    ['chat/completions', { ...chat, service_tier: 'priority' }, 'service_tier'],
    ['chat/completions', { ...chat, Service_Tier: 'default' }, 'service_tier'],
    ['chat/completions', { ...chat, web_search_options: {}, stream: true }, 'web_search_options'],
    [
      'chat/completions',
      { ...chat, extra_body: { google: { tools: [{ google_search: {} }] } } },
      'extra_body.google.tools',
    ],
    [
      'responses',
      { model: 'gpt-x', input: 'Hi', tools: [{ type: 'function' }, { type: 'web_search' }] },
      'tools[1].type',
    ],
    ['embeddings', { model: 'embed-x', input: 'Hi', service_tier: 'default' }, 'service_tier'],
    [
      'messages',
      { model: 'live', messages: HI, stream: true, tools: [{ name: 'a', input_schema: {} }] },
      'tools[0].function.name',
    ],
    ['messages', { model: 'claude', messages: HI, service_tier: 'auto' }, 'service_tier'],
    // The native upstream refuses the tier, and the other one the tool, which only a chat request names like this.
    [
      'messages',
      { model: 'neither', messages: HI, service_tier: 'auto', tools: [{ name: 'a', input_schema: {} }] },
      'service_tier',
    ],
    ['chat/completions', { model: 'both', messages: HI, logprobs: true }, 'logprobs'],
    ['chat/completions', { model: 'both', messages: HI, service_tier: 'flex' }, 'service_tier'],
  ])(
    'a request with a field that its row or its provider refuses gets a 400 and reaches no provider: %s %j',
    async (path, body, param) => {
      expect(await refused(path, body)).toBe(param)
    },
  )
})

describe('a request is served', () => {
  test('a request is served with allowed values', async () => {
    const tools = [{ type: 'function', name: 'f' }]
    gateway.upstream.reply(responseAnswer('Hello.', { input: 1, output: 1 }))

    const response = await post('responses', { model: 'gpt-x', input: 'Hi', tools, service_tier: 'default' })

    expect(response.status).toBe(200)
  })

  test('a request is served with any field, byte for byte, if neither its row nor its provider refuses it', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', { input: 1, output: 1 }))
    const more = { service_tier: 'priority', tools: [{ type: 'web_search' }], web_search_options: {} }

    const response = await post('chat/completions', { model: 'plain', messages: HI, ...more })

    expect(response.status).toBe(200)
    const sent = { model: 'plain-upstream', messages: HI, ...more }
    expect(new TextDecoder().decode(gateway.upstream.requests.at(-1)!.body)).toBe(JSON.stringify(sent))
  })

  test('a request is served by an upstream whose provider does not refuse it', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', { input: 1, output: 1 }))
    const priority = { messages: HI, service_tier: 'priority' }

    const param = await refused('chat/completions', { model: 'strict', ...priority })
    const response = await post('chat/completions', { model: 'either', ...priority })

    expect(param).toBe('service_tier')
    expect(response.status).toBe(200)
    expect(JSON.stringify(gateway.upstream.requests.at(-1)!.headers)).toContain(UPSTREAM_KEY)
  })

  test('a request is served by a native provider, if the client’s request is allowed', async () => {
    gateway.upstream.reply(json({ ...MESSAGE, usage: { input_tokens: 1, output_tokens: 1 } }))

    const response = await post('messages', { model: 'claude', messages: HI, service_tier: 'standard_only' })

    expect(response.status).toBe(200)
  })

  test('a request is served by a chat upstream, if only the native one refuses it', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', { input: 1, output: 1 }))

    const response = await post('messages', { model: 'claude-or-chat', messages: HI, service_tier: 'auto' })

    expect(response.status).toBe(200)
    expect(gateway.upstream.requests.at(-1)!.path).toBe('/v1/chat/completions')
  })
})
