import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { Webhook as Verifier } from 'standardwebhooks'
import { at } from '../../test/support/account-builders.ts'
import { fakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { anId } from '../../test/support/ledger-builders.ts'
import { aSqliteStore, type TestSqlite } from '../../test/support/test-store.ts'
import { until } from '../http1/testing/until.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'
import type { UntrustedPost } from '../gateway/ports/providers/untrusted-post.ts'
import { secretText } from '../gateway/webhooks/sign-message.ts'
import { httpClient, type HttpClient } from '../http1/client/http-client.ts'
import { Timers } from '../http1/timers.ts'
import { untrustedPost } from '../providers/fetch-untrusted/post-untrusted.ts'
import { webhookDeliveries } from './deliver-webhooks.ts'
import type { DeliveryTurns } from './delivery-turns.ts'

const DAY = 86_400_000
const OLD = secretText(new Uint8Array(32).fill(1))
const NEW = secretText(new Uint8Array(32).fill(2))

type Received = { readonly path: string; readonly headers: Record<string, string>; readonly body: string }

let receiver: ReturnType<typeof Bun.serve>
let received: Received[]
/** The status of the next answers, by the path; 200 by default, and no answer for 0. */
let statuses: Record<string, number>
let clock: FakeClock
let http: HttpClient
let store: TestSqlite
let deliverer: DeliveryTurns
let failures: unknown[]

beforeAll(() => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      received.push({ path, headers: Object.fromEntries(request.headers), body: await request.text() })
      const status = statuses[path] ?? 200
      return status === 0 ? new Promise<Response>(() => {}) : new Response('x', { status })
    },
  })
})
afterAll(() => receiver.stop(true))

beforeEach(() => {
  received = []
  statuses = {}
  failures = []
  // The verifier compares the time of the signature with that of the machine.
  clock = fakeClock(Date.now())
  http = httpClient(new Timers(clock))
  store = aSqliteStore(undefined, clock)
  deliverer = aDeliverer()
})
afterEach(async () => {
  http.close()
  await store.close()
  expect(failures).toEqual([])
})

const httpPost: UntrustedPost = (url, terms) =>
  untrustedPost({ http, resolve: async () => ['127.0.0.1'], clock, version: '1.2.3' })(url, terms)

function aDeliverer({
  allowsPrivate = true,
  post = httpPost,
  ownClock = clock,
}: {
  allowsPrivate?: boolean
  post?: UntrustedPost
  ownClock?: { now: () => number }
} = {}): DeliveryTurns {
  return webhookDeliveries({
    queue: store.webhookQueue,
    leases: store.leases,
    clock,
    ownClock,
    post,
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
    allowsPrivate,
    onFailed: error => failures.push(error),
  })
}

function aWebhook(path = '/hook', accountId?: number): Promise<Webhook> {
  return store.webhooks.create({
    publicId: `whk_${anId().key}`,
    accountId,
    url: `http://127.0.0.1:${receiver.port}${path}`,
    events: ['books.problem'],
    note: '',
    secret: OLD,
    by: at(clock.now()),
  })
}

function report(count = 1): Promise<unknown> {
  const event = () => ({ type: 'books.problem', data: { text: 'é' }, atMs: clock.now() }) as const
  return Promise.all(Array.from({ length: count }, () => store.webhooks.report(event())))
}

async function deliver(): Promise<void> {
  await deliverer.look()
  await deliverer.idle()
}

async function latest(webhook: Webhook) {
  const { messages } = await store.webhooks.messages(webhook, { limit: 1 })
  return messages[0]!
}

test('the official library verifies a message although the clock of the database is ten minutes fast', async () => {
  const webhook = await aWebhook()
  const ownClock = { now: () => Date.now() }
  clock.setWallClock(Date.now() + 600_000)
  deliverer = aDeliverer({ ownClock })
  await report()

  await deliver()

  const { headers, body } = received[0]!
  expect(new Verifier(OLD).verify(body, headers)).toMatchObject({ type: 'books.problem' })
  expect(await latest(webhook)).toMatchObject({ state: 'delivered', attempts: 1 })
})

test('the official library verifies a message, and refuses one with a changed byte', async () => {
  const webhook = await aWebhook()
  await report()

  await deliver()

  const { headers, body } = received[0]!
  expect(new Verifier(OLD).verify(body, headers)).toMatchObject({
    type: 'books.problem',
    data: { text: 'é' },
  })
  expect(() => new Verifier(OLD).verify(body.replace('é', 'e'), headers)).toThrow()
  expect(() => new Verifier(NEW).verify(body, headers)).toThrow()
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'tollgate/1.2.3' })
  expect(await latest(webhook)).toMatchObject({
    publicId: headers['webhook-id'],
    state: 'delivered',
    attempts: 1,
    latest: { status: 200, problem: null },
  })
})

test('during a rotation, receivers with either secret verify a message', async () => {
  const { publicId } = await aWebhook()
  const rotated = { secret: NEW, oldEndsAtMs: clock.now() + DAY }
  await store.webhooks.rotate(publicId, rotated, at(clock.now()))
  await report()

  await deliver()

  const { headers, body } = received[0]!
  for (const secret of [OLD, NEW]) expect(() => new Verifier(secret).verify(body, headers)).not.toThrow()
  expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
})

test('each attempt has the same id and body, and a new signature', async () => {
  await aWebhook()
  await report()
  statuses['/hook'] = 500

  await deliver()
  clock.advance(5000)
  await deliver()

  const [first, second] = received
  expect(second?.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(second?.body).toBe(first!.body)
  expect(second?.headers['webhook-signature']).not.toBe(first!.headers['webhook-signature']!)
})

test.each([301, 307, 400, 410, 500, 503])('the status %d is a failure, and is retried', async status => {
  const webhook = await aWebhook()
  await report()
  statuses['/hook'] = status

  await deliver()
  expect(await latest(webhook)).toMatchObject({
    state: 'waiting',
    latest: { status, problem: `status ${status}` },
  })
  statuses['/hook'] = 200
  clock.advance(5000)
  await deliver()

  expect(await latest(webhook)).toMatchObject({ state: 'delivered', attempts: 2 })
})

test('a silent receiver holds back its own messages only', async () => {
  const silent = await aWebhook('/silent')
  const other = await aWebhook('/other')
  statuses['/silent'] = 0
  await report(3)

  await deliverer.look()
  await until('the other receiver has its messages', async () => {
    const { messages } = await store.webhooks.messages(other, { limit: 9, state: 'delivered' })
    return messages.length === 3
  })
  clock.advance(10_000)
  await deliverer.idle()

  expect(received.filter(({ path }) => path === '/silent')).toHaveLength(1)
  const { messages } = await store.webhooks.messages(silent, { limit: 9 })
  expect(messages.map(({ latest: attempt }) => attempt?.problem)).toEqual([
    undefined,
    undefined,
    'it took more than 10 s',
  ])
})

test('a receiver that keeps failing is asked less often', async () => {
  await aWebhook()
  await report(50)
  statuses['/hook'] = 500

  for (let second = 0; second < 300; second += 1) {
    await deliver()
    clock.advance(1000)
  }

  // After 0, 4, 12, 28, 60, 120, 180 and 240 s.
  expect(received).toHaveLength(8)
})

test('two nodes deliver each message once, because one of them has the lease of the webhook', async () => {
  await aWebhook()
  await report(30)
  const other = aDeliverer()

  for (let turn = 0; turn < 3; turn += 1) {
    await Promise.all([deliverer.look(), other.look()])
    await Promise.all([deliverer.idle(), other.idle()])
  }

  expect(received).toHaveLength(30)
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(30)
})

test('the messages of a node that died are delivered by another one after 40 seconds', async () => {
  await aWebhook()
  await report(2)
  const dead = aDeliverer({ post: () => new Promise(() => {}) })
  await dead.look()
  const counts: number[] = []

  for (const afterMs of [0, 39_999, 1]) {
    clock.advance(afterMs)
    await deliver()
    counts.push(received.length)
  }

  expect(counts).toEqual([0, 0, 2])
})

test('no other node takes the webhook of a slow receiver during a turn', async () => {
  const webhook = await aWebhook()
  await report(20)
  const taken: unknown[] = []
  const slow = aDeliverer({
    async post() {
      clock.advance(9000)
      taken.push(await store.leases.take(`webhook ${webhook.id}`, 1))
      return { outcome: 'answered', status: 200 }
    },
  })

  for (let turn = 0; turn < 10; turn += 1) {
    await slow.look()
    await slow.idle()
  }

  expect(taken).toEqual(Array.from({ length: 20 }, () => undefined))
})

test('a webhook of an account is never in a private network, and one of the operator only by the setting', async () => {
  const account = await store.accounts.createAccount({
    publicId: 'acct_1',
    name: 'ada',
    sandboxOnly: false,
    audit: { actor: 'test', action: 'account.create', subject: 'ada', atMs: clock.now() },
  })
  const ofAccount = await aWebhook('/account', account.id)
  const operators = await aWebhook('/operator')
  await store.webhooks.sendTest(ofAccount.publicId, clock.now())
  await store.webhooks.sendTest(operators.publicId, clock.now())

  await deliver()
  expect(received.map(({ path }) => path)).toEqual(['/operator'])
  expect((await latest(ofAccount)).latest?.problem).toBe('the address is not public (loopback)')

  deliverer = aDeliverer({ allowsPrivate: false })
  await store.webhooks.sendTest(operators.publicId, clock.now())
  await deliver()

  expect((await latest(operators)).latest?.problem).toBe('the address is not public (loopback)')
  expect(received).toHaveLength(1)
})

test('a stop ends a running attempt, which is made again later and does not count as failed', async () => {
  const webhook = await aWebhook()
  statuses['/hook'] = 0
  await report()
  deliverer.start()
  await until('the receiver has the message', () => received.length === 1)

  await deliverer.stop()

  expect(await latest(webhook)).toMatchObject({ state: 'waiting', attempts: 0 })
  expect(clock.waiting).toBe(0)
})

test('a started deliverer looks every 750 ms', async () => {
  const webhook = await aWebhook()
  deliverer.start()
  await until('it waits', () => clock.waitingFor(750) === 1)
  await report()

  clock.advance(750)

  await until('the message is delivered', async () => (await latest(webhook)).state === 'delivered')
  await deliverer.stop()
})

test('old events are removed by one node, once a minute', async () => {
  await aWebhook()
  const other = aDeliverer()
  const left = () => store.database.query<{ id: number }, []>('SELECT id FROM webhook_events').all().length
  await report()
  clock.advance(1000)
  await report()
  await deliver()

  clock.advance(30 * DAY - 999)
  await deliver()
  const first = left()
  clock.advance(2000)
  await other.look()
  await deliver()
  const soon = left()
  clock.advance(60_000)
  await other.look()

  expect([first, soon, left()]).toEqual([1, 1, 0])
})

test('more old events than one step removes are removed at the next looks', async () => {
  await aWebhook()
  await report(501)
  clock.advance(30 * DAY + 1)

  await deliver()
  await deliver()

  expect(store.database.query('SELECT id FROM webhook_events').all()).toEqual([])
})
