import { afterEach, describe, expect, test } from 'bun:test'
import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const REQUESTS = 200
const WAIT_MS = 5000
const NOTHING = { prompt_tokens: 0, completion_tokens: 0 }

let gateway: ScriptedGateway

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startScriptedGateway({
    models: [
      chatModel('dollar', { pricing: DOLLAR_A_REQUEST }),
      // Holds 1 USD for five tokens, and charges nothing for zero tokens.
      chatModel('refunding', { pricing: { input_per_mtok: '0', output_per_mtok: '200000' } }),
      chatModel('gpt-x'),
      {
        id: 'draw',
        kind: 'image',
        upstreams: [{ provider: 'box', model: 'image' }],
        pricing: { per_image: '1' },
        params: {},
      },
    ],
    providers: () => [{ id: 'box', kind: 'sandbox' }],
    environment,
  })
}
afterEach(() => gateway.stop())

/** Holds back every answer until the gate is opened. */
function gate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  gateway.upstream.reply(async exchange => {
    await promise
    await chatAnswer()(exchange)
  })
  return resolve
}

const request = (number: number, model: string) => ({
  model,
  max_tokens: 5,
  messages: [{ role: 'user', content: `request ${number}` }],
})

function ask(
  account: TestAccount,
  number: number,
  { model = 'dollar', signal }: { readonly model?: string; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify(request(number, model)),
    ...(signal === undefined ? {} : { signal }),
  })
}

const waiters = () => gateway.metric('tollgate_hold_waiters')

/** Resolves when this many requests wait for money. */
function waiting(count: number): Promise<void> {
  return until(`${count} requests wait`, async () => (await waiters()) === count)
}

/** Resolves when this many requests have reached the upstream. */
function arrived(count: number): Promise<void> {
  return until(`${count} requests run`, () => gateway.upstream.requests.length >= count)
}

describe('of 200 concurrent different requests on a balance for ten', () => {
  test('ten run and are charged, and the rest are refused when the money is spent', async () => {
    await start()
    const account = await gateway.account({ grant: '10' })
    const open = gate()

    const asked = Array.from({ length: REQUESTS }, (_, number) => ask(account, number))
    await waiting(REQUESTS - 10)
    await arrived(10)
    const during = await account.balance()
    open()
    const responses = await Promise.all(asked)

    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter(status => status === 200)).toHaveLength(10)
    expect(statuses.filter(status => status === 402)).toHaveLength(REQUESTS - 10)
    expect(during).toMatchObject({ available_usd: '0', held_usd: '10' })
    expect(await account.balance()).toMatchObject({ available_usd: '0', held_usd: '0' })
    expect(gateway.upstream.requests).toHaveLength(10)
    await expectNothingHeld(gateway, account)
  })

  test('of 200 concurrent different requests on a balance for ten, at most ten are charged, even if each costs less than its hold', async () => {
    await start()
    const account = await gateway.account({ grant: '0.0007' })
    const open = gate()

    const asked = Array.from({ length: REQUESTS }, (_, number) => ask(account, number, { model: 'gpt-x' }))
    await arrived(1)
    open()
    const responses = await Promise.all(asked)

    const costs = responses.flatMap(({ headers }) => headers.get('x-service-cost-usd') ?? [])
    // The first refusals come while the money is held, the later ones after it was spent.
    const refused = responses.filter(({ status }) => status === 402 || status === 429)
    const { available_usd } = await account.balance()
    const spent = costs.reduce((sum, cost) => sum + usd(cost), 0n)
    expect(costs.length).toBeGreaterThan(0)
    expect(costs.length).toBeLessThanOrEqual(10)
    expect(refused).toHaveLength(REQUESTS - costs.length)
    expect(usd(available_usd)).toBeGreaterThanOrEqual(0n)
    expect(formatUsd(nanoUsd(usd('0.0007') - spent))).toBe(available_usd)
    await expectNothingHeld(gateway, account)
  })

  test('a refused request gets the held amount and no output ceiling', async () => {
    await start({ TOLLGATE_HOLD_WAIT_S: '0' })
    const account = await gateway.account({ grant: '10' })
    const open = gate()
    const running = Array.from({ length: 10 }, (_, number) => ask(account, number))
    await arrived(10)

    const refused = await ask(account, 10)
    const body: unknown = await refused.clone().json()
    open()
    await Promise.all(running)

    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'balance_reserved' })
    expect(body).toMatchObject({ required_usd: '1', available_usd: '0', held_usd: '10' })
    expect(body).not.toHaveProperty('max_affordable_output_tokens')
  })

  test('a request that running ones leave no money for is a 429 that client libraries retry', async () => {
    await start({ TOLLGATE_HOLD_WAIT_S: '0' })
    const account = await gateway.account({ grant: '1' })
    const open = gate()
    const running = ask(account, 0)
    await arrived(1)

    const refused = await ask(account, 1)
    open()
    await running
    const { headers } = refused

    expect(await refusalOf(refused)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'balance_reserved',
      message: expect.stringMatching(
        /^This request must hold 1 USD: .+ The available balance is 0 USD\. Running requests of this account hold 1 USD more\. No lower `max_tokens` would fit\. Retry when they have ended, or add funds\.$/,
      ),
    })
    expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['2', 'true'])
  })

  test.each([
    [5, 429, 'balance_reserved', 'Retry when they have ended, set `max_tokens` to 2 or less, or add funds.'],
    [8, 402, 'insufficient_balance', 'USD. Set `max_tokens` to 2 or less, or add funds.'],
  ])('with 0.50 of 1.50 USD available, a request of %d tokens at 0.20 USD is a %d', async (...expected) => {
    const [tokens, status, code, end] = expected
    await start({ TOLLGATE_HOLD_WAIT_S: '0' })
    const account = await gateway.account({ grant: '1.5' })
    const open = gate()
    const running = ask(account, 0)
    await arrived(1)

    const refused = await gateway.chat(account.key, { ...request(1, 'refunding'), max_tokens: tokens })
    open()
    await running
    const body = (await refused.clone().json()) as object
    const { message, ...refusal } = await refusalOf(refused)

    expect(refusal).toMatchObject({ status, code })
    expect(message).toEndWith(end)
    expect(body).toMatchObject({ available_usd: '0.5', held_usd: '1', max_affordable_output_tokens: 2 })
  })

  test('money that a media job holds is a 402, because the job may run for long', async () => {
    await start()
    const account = await gateway.account({ grant: '1' })
    const image = fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'draw', prompt: '[sandbox delay_ms=60000]' }),
    })
    await until('the job holds 1 USD', async () => (await account.balance()).held_usd === '1')
    const asked = ask(account, 0)
    await waiting(1)

    gateway.clock.advance(WAIT_MS)
    const refused = await asked
    gateway.clock.advance(300_000)
    await image

    expect(await refusalOf(refused)).toMatchObject({ status: 402, code: 'insufficient_balance' })
    expect(gateway.upstream.requests).toHaveLength(0)
  })
})

describe('a request that fits after running requests end', () => {
  test('a request that fits after running requests end waits for a released hold, and is then charged', async () => {
    await start()
    const account = await gateway.account({ grant: '1' })
    const taken = gateway.upstream.hold()
    const running = ask(account, 0)
    const exchange = await taken
    const asked = ask(account, 1)
    await waiting(1)

    exchange.reset()

    expect((await running).status).toBe(502)
    expect((await asked).status).toBe(200)
    expect(await account.balance()).toMatchObject({ available_usd: '0', held_usd: '0' })
  })

  test('a request that fits after running requests end is refused after the wait limit, and not before', async () => {
    await start()
    const account = await gateway.account({ grant: '1' })
    const open = gate()
    const running = ask(account, 0)
    await arrived(1)
    const asked = ask(account, 1)
    await waiting(1)

    gateway.clock.advance(WAIT_MS - 1)
    const before = await waiters()
    gateway.clock.advance(1)
    const refused = await asked
    open()
    await running

    expect(before).toBe(1)
    expect(refused.status).toBe(429)
    expect(gateway.upstream.requests).toHaveLength(1)
    await expectNothingHeld(gateway, account)
  })

  test('a request that fits after running requests end is admitted in the order of arrival', async () => {
    await start()
    const account = await gateway.account({ grant: '1' })
    gateway.upstream.reply(chatAnswer({ usage: NOTHING }))
    const taken = gateway.upstream.hold()
    const running = ask(account, 0, { model: 'refunding' })
    const exchange = await taken
    const asked: Promise<Response>[] = []
    for (const number of [1, 2, 3]) {
      asked.push(ask(account, number, { model: 'refunding' }))
      await waiting(number)
    }

    await chatAnswer({ usage: NOTHING })(exchange)
    await Promise.all([running, ...asked])

    const contents = gateway.upstream.requests.map(
      sent => (sent.json() as { messages: { content: string }[] }).messages[0]!.content,
    )
    expect(contents).toEqual(['request 0', 'request 1', 'request 2', 'request 3'])
  })

  test('a request that fits after running requests end is neither sent nor charged if its client disconnects while it waits', async () => {
    await start()
    const account = await gateway.account({ grant: '1' })
    const open = gate()
    const running = ask(account, 0)
    await arrived(1)
    const controller = new AbortController()
    const left = ask(account, 1, controller).catch(() => undefined)
    await waiting(1)

    controller.abort()
    await left
    await waiting(0)
    open()
    await running

    expect(gateway.upstream.requests).toHaveLength(1)
    await expectNothingHeld(gateway, account)
  })
})

test('with balance checks only, parallel requests pass together, and the next one does not', async () => {
  await start({ TOLLGATE_TEXT_HOLDS: 'check' })
  const account = await gateway.account({ grant: '1' })
  const open = gate()
  const asked = Array.from({ length: 5 }, (_, number) => ask(account, number))
  await arrived(5)
  const during = await account.balance()
  open()

  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  const next = await ask(account, 5)

  expect(during).toMatchObject({ available_usd: '1', held_usd: '0' })
  expect(statuses).toEqual([200, 200, 200, 200, 200])
  expect(next.status).toBe(402)
  // Each cost the checked amount, although nothing was held for it.
  expect(await gateway.metric('tollgate_overdrafts_total')).toBe(0)
  expect(await account.balance()).toMatchObject({ available_usd: '-4', held_usd: '0' })
  await expectNothingHeld(gateway, account)
})
