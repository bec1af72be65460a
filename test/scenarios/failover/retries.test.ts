import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { RETRY_WINDOW_MS } from '../../../src/gateway/upstreams/upstream-health.ts'
import { json, shortBody } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { lanes, type Lane } from './fault-lanes.ts'
import { wholeAnswer } from './fault-plays.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway
/** So short that no limit passes while the gateway reads a failure. */
const STEP_MS = 20

beforeAll(async () => {
  gateway = await startScriptedGateway({
    provider: { retries: 1, reuse_connections: false },
    providers: baseUrl => [{ id: 'once', kind: 'openai-compatible', base_url: baseUrl, retries: 0 }],
    models: [
      chatModel('chat'),
      chatModel('chat-once', { upstreams: [{ provider: 'once', model: 'm' }] }),
      chatModel('embedding', {
        kind: 'embedding',
        pricing: { input_per_mtok: '2' },
        max_output_tokens: undefined,
      }),
    ],
  })
})
afterEach(() => gateway.clock.advance(RETRY_WINDOW_MS))
afterAll(() => gateway.stop())

const error = (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  json(
    { error: { message: 'No.', type: 'theirs' } },
    { status, headers: { connection: 'close', ...headers } },
  )

const [chat = lanes[0]!] = lanes

/** Sends one request. If it `isRetried`, time passes until the upstream is called again. */
async function ask(
  replies: readonly [Reply, ...Reply[]],
  { lane = chat, model, isRetried = false }: { lane?: Lane; model?: string; isRetried?: boolean } = {},
) {
  const account = await gateway.account()
  const before = gateway.upstream.requests.length
  gateway.upstream.reply(...replies)
  const pending = fetch(gateway.url + lane.path, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: model ?? lane.kind, ...lane.request }),
  })
  await until('the last request', () => {
    const requests = gateway.upstream.requests.length - before
    // The pause begins when the gateway has read the failure.
    if (requests === 1 && isRetried) gateway.clock.advance(STEP_MS)
    return requests === (isRetried ? 2 : 1)
  })
  const response = await pending
  const text = await response.text()
  const charge = await settlementOf(gateway, account)
  await expectNothingHeld(gateway, account)
  return { status: response.status, text, charge, asked: gateway.upstream.requests.length - before }
}

describe('the only upstream is called once more after a failure', () => {
  test.each(lanes.map(lane => [lane.title, lane] as const))(
    'the only upstream is called once more after a failure of %s, and only the answer is charged',
    async (_, lane) => {
      const { status, text, charge, asked } = await ask([error(503), wholeAnswer(lane, 'well')], {
        lane,
        isRetried: true,
      })

      expect({ status, asked, isWhole: lane.looksWhole(text) }).toEqual({
        status: 200,
        asked: 2,
        isWhole: true,
      })
      expect(charge).toMatchObject({ cost_usd: lane.costs.answer, source: 'reported' })
    },
  )

  test('the only upstream is called once more after a failure, and its second failure goes to the client', async () => {
    const { status, charge, asked } = await ask([error(500), error(429, { 'retry-after': '1' })], {
      isRetried: true,
    })

    expect({ status, charge, asked }).toEqual({ status: 429, charge: null, asked: 2 })
  })

  test('the only upstream is called once more after a failure with a 429 after its Retry-After', async () => {
    const { status, asked } = await ask([error(429, { 'retry-after': '2' }), wholeAnswer(chat, 'well')], {
      isRetried: true,
    })

    expect({ status, asked }).toEqual({ status: 200, asked: 2 })
  })
})

describe('the only upstream is not called again after', () => {
  test.each<[string, Reply, number]>([
    ['a 429 with a longer Retry-After', error(429, { 'retry-after': '3' }), 429],
    ['a 500 whose body is cut', shortBody('{"error":', { connection: 'close' }, 500), 502],
    ['a 504', error(504), 502],
  ])('the only upstream is not called again after %s', async (_, reply, expected) => {
    const { status, asked } = await ask([reply, wholeAnswer(chat, 'well')])

    expect({ status, asked }).toEqual({ status: expected, asked: 1 })
  })

  test('the only upstream is not called again after any failure if its provider has no retries', async () => {
    const { status, asked } = await ask([error(503), wholeAnswer(chat, 'well')], { model: 'chat-once' })

    expect({ status, asked }).toEqual({ status: 502, asked: 1 })
  })
})

test('at most one of ten requests in ten seconds is sent again', async () => {
  const first = await ask([error(503)], { isRetried: true })
  let asked = first.asked
  for (let times = 0; times < 9; times += 1) asked += (await ask([error(503)])).asked

  expect(asked).toBe(11)
})
