import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { OPEN_MS_MAX } from '../../../src/gateway/upstreams/upstream-health.ts'
import { chatAnswer, chunk, EVENT_STREAM, head, json, sse } from '../../support/upstream-replies.ts'
import { startUpstream, type Exchange, type Upstream } from '../../support/upstream.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf } from './settled-stream.ts'
import { DONE, delta, finish, usage } from '../../support/stream-frames.ts'

const LIMIT_MS = 10_000
const ROW_LIMIT_MS = 2_000
const READ_MS = 300_000
/** Ten input tokens and five output tokens. */
const COST = '0.00007'
const FRAMES = [
  delta({ content: 'Hello' }),
  finish(),
  usage({ prompt_tokens: 10, completion_tokens: 5 }),
  DONE,
]
const HEAD = head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' })

let gateway: ScriptedGateway
let spare: Upstream

beforeAll(async () => {
  spare = startUpstream()
  const upstreams = (model: string) =>
    ['main', 'spare'].map((provider, order) => ({ provider, model, order: order + 1 }))
  gateway = await startScriptedGateway({
    provider: { first_byte_timeout_s: LIMIT_MS / 1000 },
    providers: () => [
      { id: 'spare', kind: 'openai-compatible', base_url: spare.baseUrl, first_byte_timeout_s: 1 },
    ],
    models: [
      chatModel('two', { upstreams: upstreams('m') }),
      // Its circuit is its own.
      chatModel('fails', { upstreams: upstreams('n') }),
      chatModel('alone'),
      chatModel('own', { upstreams: upstreams('m'), first_byte_timeout_s: ROW_LIMIT_MS / 1000 }),
    ],
  })
})
// Closes the circuits that the previous test opened.
beforeEach(() => {
  gateway.clock.advance(OPEN_MS_MAX)
  gateway.upstream.reply(sse(FRAMES))
  spare.reply(sse(FRAMES))
})
afterAll(async () => {
  await gateway.stop()
  spare.close()
})

/** Sends a request whose first upstream is written by the test. */
async function ask(model: string, { stream = true } = {}) {
  const account = await gateway.account()
  const held = gateway.upstream.hold()
  const asked = spare.requests.length
  const body = { model, stream, messages: [{ role: 'user', content: 'Hi' }] }
  const pending = gateway.chat(account.key, body)
  const main = await held
  const reply = async () => {
    const response = await pending
    const text = await response.text()
    const charge = await settlementOf(gateway, account)
    await expectNothingHeld(gateway, account)
    return {
      status: response.status,
      text,
      shouldRetry: response.headers.get('x-should-retry'),
      cost: charge?.cost_usd,
      askedSpare: spare.requests.length - asked,
    }
  }
  return { main, opened: pending, reply }
}

/** Sends the whole stream. */
async function answer(exchange: Exchange): Promise<void> {
  await exchange.write(HEAD)
  await exchange.write(chunk(FRAMES.join('')))
  await exchange.write('0\r\n\r\n')
}

describe('a stream without a first byte in time', () => {
  test.each([
    ['before its headers', ''],
    ['after its headers', HEAD],
  ])('%s is cancelled, and the next upstream answers and is paid', async (_, sent) => {
    const { main, reply } = await ask('two')
    await main.write(sent)

    gateway.clock.advance(LIMIT_MS)
    await main.closed

    expect(await reply()).toMatchObject({ status: 200, text: FRAMES.join(''), cost: COST, askedSpare: 1 })
  })

  test('a stream without a first byte in time is not cancelled before the limit, and has no limit after its first byte', async () => {
    const { main, opened, reply } = await ask('two')
    gateway.clock.advance(LIMIT_MS - 1)
    await main.write(HEAD)
    await main.write(chunk(': ping\n\n'))
    await opened

    gateway.clock.advance(LIMIT_MS)
    await main.write(chunk(FRAMES.join('')))
    await main.write('0\r\n\r\n')

    expect(await reply()).toMatchObject({ status: 200, cost: COST, askedSpare: 0 })
  })

  test('a stream without a first byte in time is given up once a request: the next silent upstream has the whole time', async () => {
    const { main, reply } = await ask('two')
    const held = spare.hold()
    gateway.clock.advance(LIMIT_MS)
    await main.closed
    const second = await held

    gateway.clock.advance(READ_MS - LIMIT_MS - 1)
    await answer(second)

    expect(await reply()).toMatchObject({ status: 200, cost: COST, askedSpare: 1 })
  })

  test('a stream without a first byte in time is waited for if no other upstream is left', async () => {
    const { main, reply } = await ask('alone')

    gateway.clock.advance(READ_MS - 1)
    await answer(main)

    expect(await reply()).toMatchObject({ status: 200, cost: COST })
  })

  test('a stream without a first byte in time is a 504 that is not retried if the operator cannot pay the next upstream', async () => {
    spare.reply(json({ error: { message: 'No.' } }, { status: 402 }))
    const { main, reply } = await ask('two')

    gateway.clock.advance(LIMIT_MS)
    await main.closed

    expect(await reply()).toMatchObject({ status: 504, shouldRetry: 'false', cost: undefined })
  })

  test('a stream without a first byte in time counts as a failure for its circuit breaker', async () => {
    for (let times = 0; times < 3; times += 1) {
      const { main, reply } = await ask('fails')
      gateway.clock.advance(LIMIT_MS)
      await main.closed
      await reply()
    }

    expect(await gateway.metric('tollgate_open_circuit_breakers')).toBe(1)
    expect(
      await gateway.metric('tollgate_upstream_failures_total{provider="main",reason="first_byte_timeout"}'),
    ).toBeGreaterThanOrEqual(3)
  })
})

test('the limit of a model replaces that of its provider', async () => {
  const { main, reply } = await ask('own')

  gateway.clock.advance(ROW_LIMIT_MS)
  await main.closed

  expect(await reply()).toMatchObject({ status: 200, askedSpare: 1 })
})

test('a JSON request has no limit for its first byte', async () => {
  const { main, reply } = await ask('two', { stream: false })

  gateway.clock.advance(READ_MS - 1)
  await chatAnswer()(main)

  expect(await reply()).toMatchObject({ status: 200, cost: COST, askedSpare: 0 })
})
