import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer, html, json, resetBeforeHeaders } from '../../support/upstream-replies.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'

const KEPT_BYTES_MAX = 256 * 1024
const environment = { TOLLGATE_REPLAY_TTL_S: '60', TOLLGATE_BRAND: 'acme' }

let gateway: ScriptedGateway
let ada: TestAccount
let askedBefore = 0
let requests = 0

beforeAll(async () => {
  const models = [
    chatModel('gpt-x', { pricing: DOLLAR_A_REQUEST }),
    chatModel('gpt-fresh', { pricing: DOLLAR_A_REQUEST, replays: false }),
  ]
  gateway = await startScriptedGateway({ models, environment })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  gateway.upstream.reply(chatAnswer())
  askedBefore = gateway.upstream.requests.length
  ada = await gateway.account({ grant: '10' })
})

/** A unique request. */
function aRequest(change: object = {}): string {
  requests += 1
  return JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: `${requests}` }], ...change })
}

/** A completely read reply. */
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
/** The number of upstream calls in this test. */
const asked = () => gateway.upstream.requests.length - askedBefore
const left = async () => (await ada.balance()).available_usd

/** Resolves when the gateway has read everything that was sent before. */
const arrived = () => gateway.read(ada.key, '/v1/balance')

describe('an Idempotency-Key', () => {
  test('an Idempotency-Key is part of the request: another key gets a new answer, and the same key a replay', async () => {
    const body = aRequest()

    await send(body, { 'idempotency-key': 'a' })
    const other = await send(body, { 'idempotency-key': 'b' })
    const none = await send(body)
    const same = await send(body, { 'idempotency-key': 'a' })

    expect([other, none, same].map(({ isReplay }) => isReplay)).toEqual([false, false, true])
    expect(asked()).toBe(3)
  })

  test('an Idempotency-Key does not make different bodies the same request', async () => {
    const headers = { 'idempotency-key': 'a' }

    await send(aRequest(), headers)
    const other = await send(aRequest(), headers)

    expect(other.isReplay).toBe(false)
  })
})

describe('an account with replays switched off', () => {
  test('an account with replays switched off gets a new answer for every request, until they are switched on again', async () => {
    const body = aRequest()
    await gateway.admin('PATCH', `accounts/${ada.id}`, { replays: false })

    await send(body)
    const off = await send(body)
    const account = await gateway.admin<{ replays: boolean }>('PATCH', `accounts/${ada.id}`, {
      replays: true,
    })
    await send(body)
    const on = await send(body)

    expect([off, on].map(({ isReplay }) => isReplay)).toEqual([false, true])
    expect(account.replays).toBe(true)
    expect(asked()).toBe(3)
  })
})

describe('a model whose row has replays: false', () => {
  test('a model whose row has replays: false answers every request itself, also one that comes while an identical one runs', async () => {
    const body = aRequest({ model: 'vendor/gpt-fresh' })
    const [one, two] = [gateway.upstream.hold(), gateway.upstream.hold()]

    const both = [send(body), send(body)]
    for (const held of [await one, await two]) await chatAnswer()(held)
    const replies = await Promise.all(both)
    const later = await send(body)

    expect([...replies, later].map(({ isReplay }) => isReplay)).toEqual([false, false, false])
    expect(asked()).toBe(3)
  })

  test('a model whose row has replays: false leaves the replays of other models as they are', async () => {
    const body = aRequest()

    await send(body)

    expect(await send(body)).toMatchObject({ isReplay: true })
  })
})

describe('an identical request within the TTL', () => {
  test('an identical request within the TTL gets the first answer again, byte for byte, without a charge', async () => {
    gateway.upstream.reply(
      chatAnswer({
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-limit': '9' },
      }),
    )
    const body = aRequest()

    const first = await send(body)
    const second = await gateway.chat(ada.key, body)

    expect(first).toMatchObject({
      status: 200,
      cost: '1',
      isReplay: false,
      type: 'application/json; charset=utf-8',
    })
    expect(first.body).toContain('"cost_usd":"1"')
    expect(second.headers.get('x-ratelimit-limit')).toBeNull()
    expect(await whole(second)).toEqual({ ...first, cost: null, isReplay: true })
    expect(asked()).toBe(1)
    expect(await left()).toBe('9')
  })

  test('an identical request within the TTL is answered before the balance check', async () => {
    const poor = await gateway.account({ grant: '1' })
    const body = aRequest()
    await whole(gateway.chat(poor.key, body))

    expect(await poor.balance()).toMatchObject({ available_usd: '0' })
    expect((await gateway.chat(poor.key, aRequest())).status).toBe(402)
    expect(await whole(gateway.chat(poor.key, body))).toMatchObject({ status: 200, isReplay: true })
  })

  test('an identical request within the TTL is answered before the model check', async () => {
    const body = aRequest()
    await send(body)
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: false })

    const repeat = await send(body)
    const other = await send(aRequest())
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: true })

    expect(repeat).toMatchObject({ status: 200, isReplay: true })
    expect(other.status).toBe(404)
  })

  test('an identical request within the TTL is counted in the metrics without a cost', async () => {
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

describe('the model is called again for', () => {
  test('the model is called again for a body with one different byte', async () => {
    const body = aRequest()
    await send(body)

    expect(await send(`${body} `)).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(2)
  })

  test('the model is called again for the same body on another route', async () => {
    const body = aRequest({ input: 'Hello' })
    await send(body)

    const response = await whole(
      fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
        body,
      }),
    )

    expect(response.isReplay).toBe(false)
    expect(asked()).toBe(2)
  })

  test('the model is called again for another key of the same account', async () => {
    const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${ada.id}/keys`, {})
    const body = aRequest()
    await send(body)

    expect(await whole(gateway.chat(key, body))).toMatchObject({ cost: '1', isReplay: false })
    expect(asked()).toBe(2)
  })

  test.each(['bypass', 'Bypass'])(
    'the model is called again for a request with %s, whose answer is not kept',
    async word => {
      const body = aRequest()
      const headers = { 'x-acme-idempotency': word }

      expect(await send(body, headers)).toMatchObject({ cost: '1', isReplay: false })
      expect(await send(body)).toMatchObject({ cost: '1', isReplay: false })
      expect(await send(body, headers)).toMatchObject({ cost: '1', isReplay: false })
      expect(asked()).toBe(3)
    },
  )

  test('the model is called again for a request after the TTL, which starts at the end of the first answer', async () => {
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
    ['an error of the upstream', json({ error: { message: 'No.' } }, { status: 400 }), 400],
    ['a failing upstream', json({ error: { message: 'Oh.' } }, { status: 500 }), 502],
    ['an upstream that breaks the connection', resetBeforeHeaders(), 502],
    ['an HTML page', html(), 502],
    ['a rate limit', json({ error: { message: 'Slow.' } }, { status: 429 }), 429],
  ])('the model is called again for a request that ended with %s', async (_, reply, status) => {
    gateway.upstream.reply(reply, chatAnswer())
    const body = aRequest()

    expect(await send(body)).toMatchObject({ status, isReplay: false })
    gateway.clock.advance(30_000)
    expect(await send(body)).toMatchObject({ status: 200, isReplay: false })
    expect(await send(body)).toMatchObject({ status: 200, isReplay: true })
  })

  test.each([
    ['of exactly 256 KB is kept', '', 0, true],
    ['of one more byte is not kept', '', 1, false],
    ['of exactly 256 KB with three bytes per character is kept', '漢'.repeat(50_000), 0, true],
    ['of one more byte with three bytes per character is not kept', '漢'.repeat(50_000), 1, false],
  ])('the model is called again for an answer %s', async (_, script, more, isReplay) => {
    const small = await send(aRequest())
    const rest = KEPT_BYTES_MAX - small.body.length + 'Hello.'.length - Buffer.byteLength(script)
    gateway.upstream.reply(chatAnswer({ content: script + 'x'.repeat(rest + more) }))
    const body = aRequest()

    expect(Buffer.byteLength((await send(body)).body)).toBe(KEPT_BYTES_MAX + more)
    expect(await send(body)).toMatchObject({ status: 200, isReplay })
  })
})

describe('concurrent identical requests', () => {
  test('concurrent identical requests are coalesced: of a hundred, one reaches the model and is charged, and all get the same answer', async () => {
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

  test('concurrent identical requests share an answer that is too large to keep', async () => {
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

  test('concurrent identical requests call the model one after another while they fail, and the rest share the first success', async () => {
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

  test('concurrent identical requests call the model in parallel after they have waited for the read timeout', async () => {
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

  test('concurrent identical requests are refused separately if the balance covers none', async () => {
    const poor = await gateway.account({ grant: '0' })
    const body = aRequest()

    const got = await Promise.all(Array.from({ length: 10 }, () => gateway.chat(poor.key, body)))

    expect(got.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 402))
    expect(asked()).toBe(0)
  })
})

describe('a client that disconnects', () => {
  test('a client that disconnects first still gets its request finished, charged once, and kept for its retry', async () => {
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

  test('a client that disconnects while it waits for another request does not affect the others', async () => {
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

  test('a client that disconnects while it waits for money leaves its place to a follower', async () => {
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

/** Sends a request whose client disconnects, and resolves after that. */
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

describe('without free memory', () => {
  test('without free memory, answers are not kept, and concurrent requests still share one', async () => {
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

  test('with a TTL of 0, every request calls the model', async () => {
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
