import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../support/fake-clock.ts'
import {
  canFillBacklog,
  startFullBacklog,
  type FullBacklog,
} from '../../../src/http1/testing/full-backlog.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { chatAnswer, sse } from '../../support/upstream-replies.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { turns } from '../../support/turn.ts'

const ANSWER = 'Hello from the spare.'
const FRAMES = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\n',
  'data: [DONE]\n\n',
]
const COST = '0.00007'

/** Accepts connections and never answers a TLS handshake. */
let silent: Bun.TCPSocketListener
let backlog: FullBacklog | undefined
let spare: Upstream
let gateway: TestGateway
let ada: Awaited<ReturnType<TestGateway['account']>>
let opened: PromiseWithResolvers<void>
const clock = fakeClock()

beforeAll(async () => {
  silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => opened.resolve(), data() {} },
  })
  backlog = canFillBacklog ? await startFullBacklog() : undefined
  spare = startUpstream()
  const provider = (id: string, base_url: string, fields = {}) => ({
    id,
    kind: 'openai-compatible',
    base_url,
    ...fields,
  })
  const model = (id: string, first: string) => ({
    id,
    kind: 'chat',
    upstreams: [
      { provider: first, model: 'first', order: 1 },
      { provider: 'spare', model: 'spare', order: 2 },
    ],
    pricing: { input_per_mtok: '2', output_per_mtok: '10' },
    max_output_tokens: 1000,
  })
  gateway = await startTestGateway({
    catalog: JSON.stringify({
      providers: [
        provider('no-tls', `https://localhost:${silent.port}/v1`),
        provider('no-tcp', `http://127.0.0.1:${backlog?.port ?? 1}/v1`, { connect_timeout_s: 2 }),
        provider('spare', spare.baseUrl),
      ],
      models: [model('behind-tls', 'no-tls'), model('behind-tcp', 'no-tcp')],
    }),
    environment: { TOLLGATE_REPLAY_TTL_S: '0' },
    overrides: { clock },
  })
  ada = await gateway.account()
})

beforeEach(() => {
  opened = Promise.withResolvers()
})

afterAll(async () => {
  await gateway.stop()
  spare.close()
  silent.stop(true)
  backlog?.close()
})

/** Sends one request, waits for `failover`, and gives the response with what it cost. */
async function ask(model: string, failover: () => Promise<void>, { stream = false } = {}) {
  spare.reply(stream ? sse(FRAMES) : chatAnswer({ content: ANSWER }))
  const before = await ada.balance()
  const sent = gateway.chat(ada.key, { model, messages: [{ role: 'user', content: 'Hello?' }], stream })
  await failover()
  const response = await sent
  const text = await response.text()
  const after = await ada.balance()
  const charged = (Number(before.available_usd) - Number(after.available_usd))
    .toFixed(9)
    .replace(/\.?0+$/, '')
  return { status: response.status, text, charged, held: after.held_usd }
}

/** Lets the default limit pass after TCP has connected. */
async function limitAfterOpen(): Promise<void> {
  const asked = spare.requests.length
  await opened.promise
  clock.advance(4999)
  await turns(50)
  expect(spare.requests).toHaveLength(asked)
  clock.advance(1)
}

/** Lets time pass until the spare upstream is called: when the connect begins cannot be observed. */
async function timeUntilSpare(): Promise<void> {
  const asked = spare.requests.length
  while (spare.requests.length === asked) {
    await turns(20)
    clock.advance(100)
  }
}

describe('the next upstream answers if the first one', () => {
  test('the next upstream answers if the first one never answers the TLS handshake', async () => {
    const { status, text, charged, held } = await ask('behind-tls', limitAfterOpen)

    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: ANSWER } }] })
    expect([charged, held]).toEqual([COST, '0'])
  })

  test('the next upstream answers if the first one never answers the TLS handshake of a stream', async () => {
    const { status, text, charged, held } = await ask('behind-tls', limitAfterOpen, { stream: true })

    expect(status).toBe(200)
    expect(text).toContain('"Hello"')
    expect([charged, held]).toEqual([COST, '0'])
  })

  test.skipIf(!canFillBacklog)(
    'the next upstream answers if the first one never answers the TCP connect',
    async () => {
      const { status, text, charged, held } = await ask('behind-tcp', timeUntilSpare)

      expect(status).toBe(200)
      expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: ANSWER } }] })
      expect([charged, held]).toEqual([COST, '0'])
    },
  )
})
