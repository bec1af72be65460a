import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { LATE_MS } from '../../../src/gateway/text/late-answers.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { startUpstream, type Exchange, type Reply, type Upstream } from '../../support/upstream.ts'
import {
  chatAnswer,
  closeBeforeHeaders,
  html,
  json,
  resetAfterHeaders,
} from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { routeModels, routeProviders, textRouteCases } from './text-routes.ts'
import { until } from '../../support/until.ts'

const HELLO = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }
const READ_MS = 300_000
/** Ten input tokens at 2 USD and five output tokens at 10 USD per million. */
const COST = '0.00007'

let gateway: ScriptedGateway
let spare: Upstream
let ada: TestAccount

beforeAll(async () => {
  spare = startUpstream()
  gateway = await startScriptedGateway({
    providers: () => [
      ...routeProviders,
      { id: 'spare', kind: 'openai-compatible', base_url: spare.baseUrl, api_key: 'sk-spare-1' },
    ],
    models: [
      ...routeModels,
      chatModel('gpt-two', {
        upstreams: [
          { provider: 'main', model: 'a', order: 1 },
          { provider: 'spare', model: 'b', order: 2 },
        ],
      }),
    ],
    environment: { TOLLGATE_RECONCILE_EVERY_S: '86400' },
  })
})
beforeEach(async () => {
  ada = await gateway.account({ grant: '10' })
})
afterAll(async () => {
  await gateway.stop()
  spare.close()
})

type StatementLine = {
  readonly id: string
  readonly kind: string
  readonly amount_usd: string
  readonly ref: string
}

async function statement(): Promise<readonly StatementLine[]> {
  const page = await gateway.admin<{ data: StatementLine[] }>('GET', `accounts/${ada.id}/statement`)
  return page.data
}

/** A request that gets its 504 while the upstream call continues. */
async function timedOut(
  model = 'gpt-x',
  upstream = gateway.upstream,
): Promise<{ readonly response: Response; readonly exchange: Exchange }> {
  const taken = upstream.hold()
  const waiting = gateway.chat(ada.key, { ...HELLO, model })
  const exchange = await taken
  gateway.clock.advance(READ_MS)
  return { response: await waiting, exchange }
}

/** Ends the upstream call of a request that got its 504, and waits until its result is stored. */
async function answerLate(exchange: Exchange, reply: Reply): Promise<void> {
  await reply(exchange)
  await until('no late call is waited for', async () => (await gateway.metric('tollgate_late_calls')) === 0)
}

describe('a JSON request that times out', () => {
  test('a JSON request that times out gets a 504 that SDKs do not retry, and holds nothing', async () => {
    const { response, exchange } = await timedOut()

    expect(response.status).toBe(504)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.headers.has('x-service-cost-usd')).toBe(false)
    expect(await response.json()).toMatchObject({
      error: { type: 'timeout_error', code: 'upstream_timeout' },
    })
    expect(await ada.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
    await answerLate(exchange, closeBeforeHeaders())
  })

  test('a JSON request that times out and is answered later is charged and credited together, without a change of the balance', async () => {
    const { response, exchange } = await timedOut()
    await answerLate(exchange, chatAnswer())
    const before = await statement()

    const pass = await gateway.admin('POST', 'reconcile')

    const ref = response.headers.get('x-request-id')!
    expect(pass).toEqual({
      has_run: true,
      compensated: 1,
      compensated_usd: COST,
      closed: 0,
      expired: 0,
      jobs: expect.objectContaining({ failed: 0 }) as object,
      failed: 0,
    })
    expect(before).toHaveLength(1)
    const after = await statement()
    expect(new Set(after.map(({ id }) => id)).size).toBe(3)
    expect(after).toMatchObject([
      { kind: 'compensation', amount_usd: COST, ref },
      { kind: 'charge', amount_usd: `-${COST}`, ref },
      { kind: 'grant', amount_usd: '10' },
    ])
    expect(await ada.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
    expect(await gateway.read(ada.key, '/v1/usage')).toMatchObject({
      data: [{ id: ref, model: 'gpt-x', cost_usd: COST, source: 'reported' }],
    })
    await expectNothingHeld(gateway, ada)
  })

  test('a JSON request that times out is compensated once, even if the reconciler runs several times', async () => {
    const { exchange } = await timedOut()
    await answerLate(exchange, chatAnswer())

    const passes = await Promise.all(
      [1, 2, 3].map(() => gateway.admin<{ compensated: number }>('POST', 'reconcile')),
    )
    await gateway.admin('POST', 'reconcile')

    expect(passes.reduce((sum, { compensated }) => sum + compensated, 0)).toBe(1)
    expect(await statement()).toHaveLength(3)
    await expectNothingHeld(gateway, ada)
  })

  test('a JSON request that times out is charged at the prices of its admission', async () => {
    const { exchange } = await timedOut()
    const row = await gateway.admin<Record<string, unknown>>('GET', 'models/gpt-x')
    await gateway.admin('PUT', 'models/gpt-x', {
      ...row,
      pricing: { input_per_mtok: '200', output_per_mtok: '200' },
    })
    await answerLate(exchange, chatAnswer())

    const pass = await gateway.admin('POST', 'reconcile')
    await gateway.admin('PUT', 'models/gpt-x', row)

    expect(pass).toMatchObject({ compensated: 1, compensated_usd: COST })
    await expectNothingHeld(gateway, ada)
  })

  test.each([
    ['without a usage', chatAnswer({ usage: null })],
    ['with an error', json({ error: { message: 'overloaded' } }, { status: 500 })],
    ['with HTML', html()],
    ['with half an answer', resetAfterHeaders()],
    ['with a closed connection', closeBeforeHeaders()],
  ])('a JSON request that times out and later %s is not charged', async (_, reply) => {
    const { exchange } = await timedOut()
    await answerLate(exchange, reply)

    const pass = await gateway.admin('POST', 'reconcile')

    expect(pass).toMatchObject({ compensated: 0, closed: 0 })
    expect(await statement()).toHaveLength(1)
  })

  test('a JSON request that times out and is not answered for a long time is abandoned and not charged', async () => {
    const { exchange } = await timedOut()

    gateway.clock.advance(LATE_MS)
    await exchange.closed
    await until('it is given up', async () => (await gateway.metric('tollgate_late_calls')) === 0)
    const pass = await gateway.admin('POST', 'reconcile')

    expect(pass).toMatchObject({ compensated: 0 })
    expect(await statement()).toHaveLength(1)
  })

  test('a JSON request that times out has no failover, because both upstreams could bill', async () => {
    const calls = spare.requests.length

    const { response, exchange } = await timedOut('gpt-two')
    await answerLate(exchange, closeBeforeHeaders())

    expect(response.status).toBe(504)
    expect(spare.requests).toHaveLength(calls)
  })

  test('a JSON request that times out after a failover is compensated for the late upstream', async () => {
    gateway.upstream.reply(json({}, { status: 500 }))
    const { exchange } = await timedOut('gpt-two', spare)
    await answerLate(exchange, chatAnswer())
    gateway.upstream.reply(chatAnswer())

    await gateway.admin('POST', 'reconcile')

    const usage = await gateway.admin<{ data: object[] }>('GET', `usage?account=${ada.id}`)
    expect(usage.data).toMatchObject([{ provider: 'spare', cost_usd: COST }])
    await expectNothingHeld(gateway, ada)
  })

  test('a JSON request that times out is settled by the gateway’s own reconciler', async () => {
    const { exchange } = await timedOut()
    await answerLate(exchange, chatAnswer())
    const counted = 'tollgate_reconciled_total{outcome="compensated"}'
    const before = await gateway.metric(counted)

    gateway.clock.jump(86_400_000)
    await until('it is settled', async () => (await gateway.metric(counted)) === before + 1)

    expect(await statement()).toHaveLength(3)
    expect(await gateway.metric('tollgate_compensated_usd_total')).toBeGreaterThan(0)
  })
})

test.each(textRouteCases.map(route => [route.title, route] as const))(
  'a late answer on the route %s is charged and credited together',
  async (_, route) => {
    const { path, model, request, isInputOnly } = route
    const taken = gateway.upstream.hold()
    const asking = fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify({ model, ...request }),
    })
    const exchange = await taken
    gateway.clock.advance(READ_MS)
    const response = await asking
    await answerLate(exchange, route.answer({ input: 10, output: 5 }))

    await gateway.admin('POST', 'reconcile')

    const cost = isInputOnly === true ? '0.00002' : COST
    const ref = response.headers.get('x-request-id')!
    expect(response.status).toBe(504)
    expect(await statement()).toMatchObject([
      { kind: 'compensation', amount_usd: cost, ref },
      { kind: 'charge', amount_usd: `-${cost}`, ref },
      { kind: 'grant' },
    ])
    expect(await ada.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
    await expectNothingHeld(gateway, ada)
  },
)

test('the late answer of a Messages request is settled even if its client disconnects after the 504', async () => {
  const controller = new AbortController()
  const taken = gateway.upstream.hold()
  const asking = fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key },
    body: JSON.stringify({ ...HELLO, max_tokens: 100 }),
    signal: controller.signal,
  })
  const exchange = await taken
  gateway.clock.advance(READ_MS)
  await (await asking).text()
  controller.abort()
  await answerLate(exchange, chatAnswer())

  const pass = await gateway.admin('POST', 'reconcile')

  expect(pass).toMatchObject({ compensated: 1 })
  await expectNothingHeld(gateway, ada)
})

test('a stop ends late calls without waiting', async () => {
  const { upstream, clock, ...stopping } = await startScriptedGateway()
  const { key } = await stopping.account()
  const taken = upstream.hold()
  const waiting = stopping.chat(key, HELLO)
  const exchange = await taken
  clock.advance(READ_MS)
  await waiting

  await stopping.stop()

  await exchange.closed
})
