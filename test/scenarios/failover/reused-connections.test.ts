import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head, json } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { lanes, type Lane } from './fault-lanes.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

const REQUESTS = 3
const PNG = readFileSync(new URL('../../fixtures/media/image.png', import.meta.url), 'base64')

let gateway: ScriptedGateway

/** The same upstream as two providers of each kind: one with the default, and one whose connections are not reused. */
const providers = (base_url: string): readonly object[] =>
  ['openai-compatible', 'anthropic', 'openai-images'].flatMap(kind => [
    { id: `${kind}-reused`, kind, base_url, api_key: 'secret' },
    { id: `${kind}-once`, kind, base_url, api_key: 'secret', reuse_connections: false },
  ])

const onBoth = (name: string, kind: string, change: object): readonly object[] =>
  ['reused', 'once'].map(setting =>
    chatModel(`${name}-${setting}`, {
      upstreams: [{ provider: `${kind}-${setting}`, model: 'm' }],
      ...change,
    }),
  )

beforeAll(async () => {
  gateway = await startScriptedGateway({
    providers,
    models: [
      ...onBoth('chat', 'openai-compatible', {}),
      ...onBoth('embedding', 'openai-compatible', {
        kind: 'embedding',
        pricing: { input_per_mtok: '2' },
        max_output_tokens: undefined,
      }),
      ...onBoth('native', 'anthropic', {}),
      ...onBoth('image', 'openai-images', {
        kind: 'image',
        pricing: { per_image: '0.04' },
        max_output_tokens: undefined,
        context_window: undefined,
      }),
    ],
    environment: { TOLLGATE_REPLAY_TTL_S: '0' },
  })
})
afterAll(() => gateway.stop())

type Case = { readonly path: string; readonly model: string; readonly request: object; readonly reply: Reply }

/** The whole stream in one write, so that its end is there when the gateway sends the last bytes. */
function wholeStream(frames: readonly string[]): Reply {
  const start = head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' })
  return exchange => exchange.write(`${start}${Buffer.from(chunk(frames.join(''))).toString()}0\r\n\r\n`)
}

function caseOf({ path, kind, request, upstreamSends, answer }: Lane): Case {
  const parts = answer('well')
  const reply = upstreamSends === 'stream' ? wholeStream(parts) : json(JSON.parse(parts.join('')))
  return { path, model: kind, request, reply }
}

const cases: readonly (readonly [string, Case])[] = [
  ...lanes.map(lane => [lane.title, caseOf(lane)] as const),
  [
    'messages of an anthropic provider',
    {
      path: '/v1/messages',
      model: 'native',
      request: { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
      reply: json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    },
  ],
  [
    'images',
    {
      path: '/v1/images/generations',
      model: 'image',
      request: { prompt: 'a cat' },
      reply: json({ data: [{ b64_json: PNG }] }),
    },
  ],
]

/** Sends requests, each after the one before has ended, and counts the connections that the upstream got for them. */
async function connectionsFor({ path, model, request, reply }: Case, setting: 'reused' | 'once') {
  const account = await gateway.account()
  const before = { connections: gateway.upstream.connections, requests: gateway.upstream.requests.length }
  gateway.upstream.reply(reply)
  for (let count = 0; count < REQUESTS; count += 1) {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: `${model}-${setting}`, ...request }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
  }
  const sent = gateway.upstream.requests.slice(before.requests)
  return {
    requests: sent.length,
    opened: gateway.upstream.connections - before.connections,
    used: new Set(sent.map(({ connection }) => connection)).size,
  }
}

describe.each(cases)('of %s', (_, subject) => {
  test('requests that follow each other use one connection to the provider', async () => {
    const { requests, used } = await connectionsFor(subject, 'reused')

    expect({ requests, used }).toEqual({ requests: REQUESTS, used: 1 })
  })

  test('each request has a connection of its own with reuse_connections: false', async () => {
    const counted = await connectionsFor(subject, 'once')

    expect(counted).toEqual({ requests: REQUESTS, opened: REQUESTS, used: REQUESTS })
  })
})
