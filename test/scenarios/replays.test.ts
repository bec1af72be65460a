import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../support/gateway.ts'
import { chatAnswer, html, json, resetBeforeHeaders } from '../support/upstream-replies.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from './scripted-gateway.ts'

const KEPT_BYTES_MAX = 256 * 1024
const environment = { TOLLGATE_REPLAY_TTL_S: '60', TOLLGATE_BRAND: 'acme' }

let gateway: ScriptedGateway
let ada: TestAccount
let askedBefore = 0
let requests = 0

beforeAll(async () => {
  const models = [chatModel('gpt-x', { pricing: DOLLAR_A_REQUEST })]
  gateway = await startScriptedGateway({ models, environment })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  gateway.upstream.reply(chatAnswer())
  askedBefore = gateway.upstream.requests.length
  ada = await gateway.account({ grant: '10' })
})

/** A request that no other is like. */
function aRequest(change: object = {}): string {
  requests += 1
  return JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: `${requests}` }], ...change })
}

/** A reply, read whole. */
async function whole(reply: Promise<Response> | Response) {
  const response = await reply
  const { status, headers } = response
  return {
    status,
    body: await response.text(),
    type: headers.get('content-type'),
    cost: headers.get('x-acme-cost-usd'),
    isReplay: headers.get('x-acme-replay') === 'true',
  }
}

const send = (body: string, headers?: Record<string, string>) => whole(gateway.chat(ada.key, body, headers))
/** How often the model was asked in this test. */
const asked = () => gateway.upstream.requests.length - askedBefore
const left = async () => (await ada.balance()).available_usd

/** Everything sent before has been read by the gateway. */
const arrived = () => gateway.read(ada.key, '/v1/balance')

describe('an identical request within the time', () => {
  test('gets the first answer again, byte for byte and for nothing', async () => {
    gateway.upstream.reply(
      chatAnswer({
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-limit': '9' },
      }),
    )
    const body = aRequest()

    const first = await send(body)
    const second = await gateway.chat(ada.key, body)

    expect(first).toMatchObject({ status: 200, cost: '1', isReplay: false })
    expect(first.body).toContain('"cost_usd":"1"')
    expect(second.headers.get('x-ratelimit-limit')).toBeNull()
    expect(await whole(second)).toEqual({ ...first, cost: null, isReplay: true })
    expect(asked()).toBe(1)
    expect(await left()).toBe('9')
  })

  test('is answered before the balance is looked at', async () => {
    const poor = await gateway.account({ grant: '1' })
    const body = aRequest()
    await whole(gateway.chat(poor.key, body))

    expect(await poor.balance()).toMatchObject({ available_usd: '0' })
    expect((await gateway.chat(poor.key, aRequest())).status).toBe(402)
    expect(await whole(gateway.chat(poor.key, body))).toMatchObject({ status: 200, isReplay: true })
  })

  test('is answered before the model is looked for', async () => {
    const body = aRequest()
    await send(body)
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: false })

    const repeat = await send(body)
    const other = await send(aRequest())
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: true })

    expect(repeat).toMatchObject({ status: 200, isReplay: true })
    expect(other.status).toBe(404)
  })

  test('shows in the metrics, where no cost is added', async () => {
    const body = aRequest()
    await send(body)
    const replays = () => gateway.metric('tollgate_replays_total{route="chat"}')
    const cost = () => gateway.metric('tollgate_cost_usd_total{model="gpt-x",kind="text"}')
    const requests = () => gateway.metric('tollgate_requests_total{route="chat",status="200",model="gpt-x"}')
    const before = { replays: await replays(), cost: await cost(), requests: await requests() }

    await send(body)

    expect(await replays()).toBe(before.replays + 1)
    expect(await requests()).toBe(before.requests + 1)
    expect(await cost()).toBe(before.cost)
    expect(await gateway.metric('tollgate_replay_bytes')).toBeGreaterThan(0)
  })
})

describe('the model is asked again for', () => {
  test('a body that differs in a byte', async () => {
    const body = aRequest()
    await send(body)

    expect(await send(`${body} `)).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(2)
  })

  test('another key, though it is of the same account', async () => {
    const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${ada.id}/keys`, {})
    const body = aRequest()
    await send(body)

    expect(await whole(gateway.chat(key, body))).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(2)
  })

  test.each(['bypass', 'Bypass'])('a request that says %s, and its answer is not kept', async word => {
    const body = aRequest()
    const headers = { 'x-acme-idempotency': word }

    expect(await send(body, headers)).toMatchObject({ cost: '1', isReplay: false })
    expect(await send(body)).toMatchObject({ cost: '1', isReplay: false })
    expect(await send(body, headers)).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(3)
  })

  test('a request after the time, which runs from the end of the first answer', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()
    const first = send(body)
    const held = await exchange
    gateway.clock.advance(59_000)
    await chatAnswer()(held)
    await first

    gateway.clock.advance(59_999)
    expect(await send(body)).toMatchObject({ isReplay: true })
    gateway.clock.advance(1)
    expect(await send(body)).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(2)
  })

  test.each([
    ['a refusal of the upstream', json({ error: { message: 'No.' } }, { status: 400 }), 400],
    ['a broken upstream', json({ error: { message: 'Oh.' } }, { status: 500 }), 502],
    ['an upstream that breaks the connection', resetBeforeHeaders(), 502],
    ['a page that is no answer', html(), 502],
    ['a rate limit', json({ error: { message: 'Slow.' } }, { status: 429 }), 429],
  ])('what ended with %s', async (_, reply, status) => {
    gateway.upstream.reply(reply, chatAnswer())
    const body = aRequest()

    expect(await send(body)).toMatchObject({ status, isReplay: false })
    gateway.clock.advance(30_000)
    expect(await send(body)).toMatchObject({ status: 200, isReplay: false })
    expect(await send(body)).toMatchObject({ status: 200, isReplay: true })
  })

  test.each([
    ['of exactly 256 KB, which is kept', '', 0, true],
    ['of a byte more, which is not', '', 1, false],
    ['of exactly 256 KB in a script of three bytes a letter, which is kept', '漢'.repeat(50_000), 0, true],
    ['of a byte more in such a script, which is not', '漢'.repeat(50_000), 1, false],
  ])('an answer %s', async (_, script, more, isReplay) => {
    const small = await send(aRequest())
    const rest = KEPT_BYTES_MAX - small.body.length + 'Hello.'.length - Buffer.byteLength(script)
    gateway.upstream.reply(chatAnswer({ content: script + 'x'.repeat(rest + more) }))
    const body = aRequest()

    expect(Buffer.byteLength((await send(body)).body)).toBe(KEPT_BYTES_MAX + more)
    expect(await send(body)).toMatchObject({ status: 200, isReplay })
  })
})

describe('identical requests at once', () => {
  test('are one request: the model sees one, one is charged, a hundred get the same', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()

    const replies = Array.from({ length: 100 }, () => send(body))
    const held = await exchange
    await arrived()
    await chatAnswer()(held)
    const got = await Promise.all(replies)

    expect(asked()).toBe(1)
    expect(await left()).toBe('9')
    expect(new Set(got.map(reply => reply.body)).size).toBe(1)
    expect(got.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(got.filter(({ isReplay, cost }) => isReplay && cost === null)).toHaveLength(99)
    expect(got.filter(({ isReplay, cost }) => !isReplay && cost === '1')).toHaveLength(1)
  })

  test('share an answer that is too large to be kept', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()

    const replies = [send(body), send(body)]
    const held = await exchange
    await arrived()
    await chatAnswer({ content: 'x'.repeat(KEPT_BYTES_MAX) })(held)
    const [first, second] = await Promise.all(replies)

    expect(asked()).toBe(1)
    expect(second?.body).toBe(first!.body)
    expect(await send(body)).toMatchObject({ isReplay: false })
  })

  test('ask one after the other while they fail, and the rest share the first success', async () => {
    const broken = json({ error: { message: 'Oh.' } }, { status: 500 })
    gateway.upstream.reply(broken, broken, chatAnswer())
    const body = aRequest()
    const exchange = gateway.upstream.hold()

    const replies = Array.from({ length: 6 }, () => send(body))
    const held = await exchange
    await arrived()
    expect(asked()).toBe(1)
    await broken(held)
    const got = await Promise.all(replies)

    expect(asked()).toBe(4)
    expect(got.filter(({ status }) => status === 502)).toHaveLength(3)
    expect(got.filter(({ status, isReplay }) => status === 200 && !isReplay)).toHaveLength(1)
    expect(got.filter(({ status, isReplay }) => status === 200 && isReplay)).toHaveLength(2)
    expect(await left()).toBe('9')
  })

  test('ask side by side once they have waited for as long as a model may take', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()
    const replies = [send(body), send(body), send(body)]
    const held = await exchange
    await arrived()
    const [second, third] = [gateway.upstream.hold(), gateway.upstream.hold()]

    gateway.clock.advance(300_000)
    const both = await Promise.all([second, third])

    expect(await replies[0]!).toMatchObject({ status: 504 })
    for (const waiting of both) await chatAnswer()(waiting)
    expect(await Promise.all(replies.slice(1))).toMatchObject([
      { status: 200, isReplay: false },
      { status: 200, isReplay: false },
    ])
    held.reset()
  })

  test('are refused each on its own where none can be paid', async () => {
    const poor = await gateway.account({ grant: '0' })
    const body = aRequest()

    const got = await Promise.all(Array.from({ length: 10 }, () => gateway.chat(poor.key, body)))

    expect(got.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 402))
    expect(asked()).toBe(0)
  })
})

describe('a client that leaves', () => {
  test('first: its answer is finished, charged once, and there for its retry', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()
    const leaver = new AbortController()
    const abandoned = leave(body, leaver)
    const held = await exchange

    leaver.abort()
    await abandoned
    const retry = send(body)
    await arrived()
    await chatAnswer()(held)

    expect(await retry).toMatchObject({ status: 200, isReplay: true })
    expect(asked()).toBe(1)
    expect(await left()).toBe('9')
  })

  test('while it waits for another: the others get their answer', async () => {
    const body = aRequest()
    const exchange = gateway.upstream.hold()
    const first = send(body)
    const held = await exchange
    const leaver = new AbortController()
    const abandoned = leave(body, leaver)
    const third = send(body)
    await arrived()

    leaver.abort()
    await abandoned
    await chatAnswer()(held)

    expect(await first).toMatchObject({ status: 200, cost: '1' })
    expect(await third).toMatchObject({ status: 200, isReplay: true })
    expect(asked()).toBe(1)
  })

  test('while it waits for money: one that follows it waits on in its place', async () => {
    const short = await gateway.account({ grant: '1' })
    const exchange = gateway.upstream.hold()
    const running = gateway.chat(short.key, aRequest())
    const held = await exchange
    const body = aRequest()
    const leaver = new AbortController()
    const abandoned = leave(body, leaver, short)
    await arrived()
    const follower = whole(gateway.chat(short.key, body))
    await arrived()

    leaver.abort()
    await abandoned
    await json({ error: { message: 'No.' } }, { status: 400 })(held)

    expect((await running).status).toBe(400)
    expect(await follower).toMatchObject({ status: 200, isReplay: true })
    expect(await short.balance()).toMatchObject({ available_usd: '0', held_usd: '0' })
  })
})

/** Sends a request that its client will give up; resolves when it has. */
async function leave(body: string, leaver: AbortController, { key } = ada): Promise<void> {
  const reply = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
    signal: leaver.signal,
  })
  await reply.then(
    () => {
      throw new Error('It was answered.')
    },
    () => undefined,
  )
}

describe('without room', () => {
  test('answers are not kept, and requests at once share one all the same', async () => {
    const full = await startScriptedGateway({ environment: { ...environment, TOLLGATE_REPLAY_MB: '0' } })
    const { key } = await full.account()
    const body = aRequest()
    const exchange = full.upstream.hold()

    const replies = [full.chat(key, body), full.chat(key, body)]
    const held = await exchange
    await full.read(key, '/v1/balance')
    await chatAnswer()(held)
    await Promise.all(replies)
    expect(full.upstream.requests).toHaveLength(1)
    await full.chat(key, body)

    expect(full.upstream.requests).toHaveLength(2)
    await full.stop()
  })

  test('of time, every request is its own', async () => {
    const off = await startScriptedGateway({ environment: { TOLLGATE_REPLAY_TTL_S: '0' } })
    const { key } = await off.account()
    const body = aRequest()

    const replies = await Promise.all([off.chat(key, body), off.chat(key, body)])
    await off.chat(key, body)

    expect(off.upstream.requests).toHaveLength(3)
    expect(replies.map(({ headers }) => headers.get('x-service-replay'))).toEqual([null, null])
    await off.stop()
  })
})
