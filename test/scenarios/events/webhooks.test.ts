import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Webhook as Verifier } from 'standardwebhooks'
import { ADMIN_KEY } from '../../support/gateway.ts'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

type Webhook = { readonly id: string; readonly secret: string; readonly state: string }
type Delivery = {
  readonly id: string
  readonly type: string
  readonly state: string
  readonly attempts: number
}
type Message = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

let gateway: ScriptedGateway
let receiver: ReturnType<typeof Bun.serve>
let received: { readonly headers: Record<string, string>; readonly body: string }[]
let status: number

beforeEach(async () => {
  received = []
  status = 200
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      received.push({ headers: Object.fromEntries(request.headers), body: await request.text() })
      return new Response(null, { status })
    },
  })
  gateway = await startScriptedGateway({
    models: [chatModel('dollar', { pricing: DOLLAR_A_REQUEST })],
    environment: { TOLLGATE_ALLOW_PRIVATE_WEBHOOKS: 'on' },
  })
  // The verifier compares the time of a signature with that of the machine.
  gateway.clock.setWallClock(Date.now())
  gateway.upstream.reply(chatAnswer())
})
afterEach(async () => {
  await gateway.stop()
  await receiver.stop(true)
})

function aWebhook(fields: object = {}): Promise<Webhook> {
  return gateway.admin<Webhook>('POST', 'webhooks', { url: receiver.url.href, ...fields })
}

/** The gateway looks for messages every 750 ms. */
async function nextLook(afterMs = 750): Promise<void> {
  await until('the gateway waits', () => gateway.clock.waitingFor(750) === 1)
  gateway.clock.advance(afterMs)
}

/**
 * Lets the gateway look until so many messages have arrived. A look skips a receiver whose last turn has not ended, and
 * a turn ends after its message has arrived. The requests in between let attempts end before the clock calls them slow.
 */
async function untilTold(count: number): Promise<void> {
  await until(`${count} messages have arrived`, async () => {
    if (received.length < count) {
      await nextLook()
      await gateway.admin('GET', 'webhooks')
    }
    return received.length >= count
  })
}

async function deliveriesOf(id: string): Promise<readonly Delivery[]> {
  const page = await gateway.admin<{ data: readonly Delivery[] }>('GET', `webhooks/${id}/deliveries`)
  return page.data
}

function messages(): readonly Message[] {
  return received.map(({ body }) => JSON.parse(body) as Message)
}

/** A request of the operator that may be refused. */
async function refused(method: string, path: string, body?: object) {
  const reply = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return refusalOf(reply)
}

test('a receiver is told of a top-up without its note and of a low balance, and verifies both with the official library', async () => {
  const { id, key } = await gateway.account({ grant: '0' })
  const { secret } = await aWebhook()
  await gateway.admin('PATCH', `accounts/${id}`, { alert_below_usd: '2' })
  await untilTold(1)
  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '2.5', source: 'top_up', note: 'inv 7' })
  await untilTold(2)

  const answer = await gateway.chat(key, {
    model: 'dollar',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'x' }],
  })
  await untilTold(3)

  expect(answer.status).toBe(200)
  for (const { headers, body } of received)
    expect(() => new Verifier(secret).verify(body, headers)).not.toThrow()
  const account = { id, name: 'account 1' }
  // The note is for the operator, and customers get this event too.
  expect(messages().map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'balance.low', data: { account, balance_usd: '0', alert_below_usd: '2' } },
    { type: 'balance.topped_up', data: { account, amount_usd: '2.5', available_usd: '2.5' } },
    { type: 'balance.low', data: { account, balance_usd: '1.5', alert_below_usd: '2' } },
  ])
  expect(await gateway.admin('GET', `accounts/${id}`)).toMatchObject({ alert_below_usd: '2' })
})

test('an operator tests a webhook, reads its deliveries, and sends a failed message again', async () => {
  const { id } = await aWebhook({ events: ['books.problem'], note: 'pager' })
  status = 500
  await gateway.admin('POST', `webhooks/${id}/test`)
  await nextLook()
  await until('it was attempted', async () => (await deliveriesOf(id))[0]?.attempts === 1)
  const [failed] = await deliveriesOf(id)

  expect(failed).toMatchObject({ type: 'webhook.test', state: 'waiting', status: 500, problem: 'status 500' })
  expect(await gateway.admin('GET', `webhooks/${id}`)).toMatchObject({ failing_since: expect.any(String) })
  status = 204
  await gateway.admin('POST', `webhooks/${id}/deliveries/${failed!.id}/redeliver`)
  await nextLook(4000)
  await until('it is delivered', async () => {
    await nextLook()
    return (await deliveriesOf(id))[0]?.state === 'delivered'
  })

  expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed!.id]))
  expect(await gateway.admin('GET', `webhooks/${id}`)).toMatchObject({ failing_since: null, note: 'pager' })
})

test('only the creation and a rotation show a secret', async () => {
  const { id, secret } = await aWebhook()
  const rotated = await gateway.admin<Webhook>('POST', `webhooks/${id}/rotate`, { old_ends_in: 60 })
  await gateway.admin('PATCH', `webhooks/${id}`, { events: ['balance.low'] })
  const texts = await Promise.all([
    gateway.admin('GET', `webhooks/${id}`),
    gateway.admin('GET', 'webhooks'),
    gateway.admin('GET', 'audit'),
  ])

  expect(rotated).toMatchObject({
    secret: expect.stringMatching(/^whsec_/),
    old_secret_ends_at: expect.any(String),
  })
  expect(rotated.secret).not.toBe(secret)
  const read = JSON.stringify(texts)
  expect([read.includes(secret), read.includes(rotated.secret), read.includes('whsec_')]).toEqual([
    false,
    false,
    false,
  ])
})

test('a webhook of an account must be public and over TLS, and gets no events about the gateway', async () => {
  await gateway.admin('POST', 'accounts', { name: 'ada' })
  const own = { account: 'ada', url: 'https://example.com/' }

  expect(await refused('POST', 'webhooks', { ...own, url: receiver.url.href })).toMatchObject({
    status: 400,
    message: '"url" must be an https:// address of at most 2000 characters.',
  })
  expect(await refused('POST', 'webhooks', { ...own, events: ['books.problem'] })).toMatchObject({
    status: 400,
    code: 'invalid_field',
  })
  const webhook = await gateway.admin<{ events: readonly string[] }>('POST', 'webhooks', own)
  expect(webhook.events).toEqual([
    'balance.low',
    'balance.granted',
    'balance.topped_up',
    'budget.nearly_spent',
    'budget.reached',
    'job.finished',
    'key.expiring',
    'webhook.test',
  ])
})

test.each([
  ['POST', 'webhooks', {}, 'url'],
  ['POST', 'webhooks', { url: 'example.com' }, 'url'],
  ['POST', 'webhooks', { url: 'ftp://example.com' }, 'url'],
  ['POST', 'webhooks', { url: 'https://me:pass@example.com' }, 'url'],
  ['POST', 'webhooks', { url: 'https://example.com', events: ['balance'] }, 'events'],
  ['POST', 'webhooks', { url: 'https://example.com', events: [] }, 'events'],
  ['POST', 'webhooks', { url: 'https://example.com', note: 'x'.repeat(501) }, 'note'],
  ['GET', 'webhooks/WEBHOOK/deliveries?state=lost', undefined, 'state'],
  ['GET', 'webhooks/WEBHOOK/deliveries?cursor=x', undefined, 'cursor'],
  ['PATCH', 'webhooks/WEBHOOK', {}, 'url'],
  ['POST', 'webhooks/WEBHOOK/rotate', { old_ends_in: 604_801 }, 'old_ends_in'],
] as const)('wrong input is refused and names the field: %s %s %j', async (method, path, body, param) => {
  const { id } = await aWebhook()

  const refusal = await refused(method, path.replace('WEBHOOK', id), body)

  expect(refusal).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('a webhook that is off is not tested, and a removed or unknown one is not found', async () => {
  const { id } = await aWebhook()
  await gateway.admin('PATCH', `webhooks/${id}`, { on: false })

  expect(await refused('POST', `webhooks/${id}/test`)).toMatchObject({ status: 409, code: 'webhook_off' })
  await gateway.admin('DELETE', `webhooks/${id}`)
  for (const [method, path] of [
    ['GET', `webhooks/${id}`],
    ['DELETE', `webhooks/${id}`],
    ['GET', 'webhooks?account=nobody'],
    ['POST', `webhooks/${(await aWebhook()).id}/deliveries/msg_1/redeliver`],
  ] as const)
    expect(await refused(method, path)).toMatchObject({ status: 404, code: 'not_found' })
})

test('an operator is told when the only upstream of a model fails for a minute, and when it has recovered', async () => {
  const { key } = await gateway.account({ grant: '100' })
  const { id } = await aWebhook({ events: ['provider.failing', 'provider.recovered'] })
  const ask = (content: number) =>
    gateway.chat(key, { model: 'dollar', messages: [{ role: 'user', content: `${content}` }] })
  gateway.upstream.reply(json({ error: { message: 'down' } }, { status: 505 }))

  // The clock moves further than an attempt may take, so it stands still while one can run. Otherwise the message would
  // be sent again.
  let asked = 0
  await until('the failure is noted', async () => {
    expect((await ask(asked)).status).toBe(502)
    asked += 1
    gateway.clock.advance(15_000)
    return (await deliveriesOf(id)).length === 1
  })
  await untilTold(1)
  await until('the failure is told', async () => (await deliveriesOf(id))[0]?.state === 'delivered')
  gateway.upstream.reply(chatAnswer())
  expect((await ask(asked)).status).toBe(200)
  await until('the recovery is noted', async () => {
    gateway.clock.advance(15_000)
    return (await deliveriesOf(id)).length === 2
  })
  await untilTold(2)

  const data = { provider: 'main', models: ['dollar-upstream'] }
  expect(messages().map(({ type, data: told }) => ({ type, data: told }))).toEqual([
    { type: 'provider.failing', data },
    { type: 'provider.recovered', data },
  ])
})
