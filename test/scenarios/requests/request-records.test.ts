import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { RecordedRequest } from '../../../src/gateway/ports/requests/request-records.ts'
import { openRequestStore } from '../../../src/stores/sqlite/request-records/open-request-store.ts'
import { OPEN_MS_MAX } from '../../../src/gateway/upstreams/upstream-health.ts'
import { WRITE_EVERY_MS } from '../../../src/gateway/requests/request-recorder.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { ADMIN_KEY, startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { startUpstream, type Reply, type Upstream } from '../../support/upstream.ts'
import { answer, cutChunked, EVENT_STREAM } from '../../support/upstream-replies.ts'
import { chatCompletion, textRouteCases, type TextRouteCase } from '../text/text-routes.ts'
import { until } from '../../support/until.ts'

/** The step between two polls of a job that a request waits for. */
const POLL_STEP_MS = 2000
const COUNTS = { input: 10, output: 5 }
const chat: TextRouteCase = {
  title: 'chat',
  path: '/v1/chat/completions',
  model: 'gpt-x',
  request: { messages: [{ role: 'user', content: 'A secret prompt' }] },
  upstreamPath: '/v1/chat/completions',
  answer: counts => chatCompletion('A secret answer', counts),
  isReplayed: true,
}
const routes = [chat, ...textRouteCases.filter(({ title }) => !title.includes('stream'))]
const IMAGE = { model: 'image-x', prompt: 'A secret prompt', n: 1 }

const clock = fakeClock()
let main: Upstream
let spare: Upstream
let gateway: TestGateway
let ada: TestAccount
let poor: TestAccount
let records: ReturnType<typeof openRequestStore>

beforeAll(async () => {
  main = startUpstream()
  spare = startUpstream()
  const provider = (id: string, baseUrl: string) => ({
    id,
    kind: 'openai-compatible',
    base_url: baseUrl,
    api_key: `sk-of-${id}-0123456789`,
    retries: 0,
  })
  const upstreams = [
    { provider: 'main', model: 'x' },
    { provider: 'spare', model: 'x', order: 2 },
  ]
  const pricing = { input_per_mtok: '2', output_per_mtok: '10' }
  const chatRow = { id: 'gpt-x', kind: 'chat', upstreams, pricing, max_output_tokens: 1000 }
  const catalog = {
    providers: [
      provider('main', main.baseUrl),
      provider('spare', spare.baseUrl),
      { id: 'box', kind: 'sandbox' },
    ],
    models: [
      { ...chatRow, context_window: 100_000 },
      {
        id: 'embed-x',
        kind: 'embedding',
        upstreams,
        pricing: { input_per_mtok: '2' },
        context_window: 100_000,
      },
      {
        id: 'image-x',
        kind: 'image',
        upstreams: [{ provider: 'box', model: 'image' }],
        pricing: { per_image: '0.04' },
      },
    ],
  }
  gateway = await startTestGateway({
    catalog: JSON.stringify(catalog),
    environment: {
      TOLLGATE_REQUEST_RECORDS_DAYS: '7',
      TOLLGATE_REPLAY_TTL_S: '60',
      // The clock moves much faster than the disk.
      TOLLGATE_IMAGE_WAIT_S: '86400',
    },
    overrides: { clock },
  })
  ada = await gateway.account({ grant: '100' })
  poor = await gateway.account({ grant: '0' })
  records = openRequestStore(
    {
      path: join(gateway.dataDir, 'requests.sqlite'),
      bounds: { keptMs: 1e12, rowsMax: 1_000_000, bytesMax: 2 ** 30 },
    },
    { clock: { after: () => () => undefined }, onDamaged: () => undefined },
  )
})

afterAll(async () => {
  await records.close()
  await gateway.stop()
  main.close()
  spare.close()
})

/** Sends a request, and returns its status and its record. */
async function sent(
  path: string,
  body: object,
  { key = ada.key, headers = {} }: { readonly key?: string; readonly headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly record: RecordedRequest }> {
  let isAnswered = false
  const answering = fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).finally(() => (isAnswered = true))
  // The end of an image is found by a poll.
  if (path.includes('images'))
    await until('the reply', () => {
      if (clock.waitingFor(POLL_STEP_MS) > 0) clock.advance(POLL_STEP_MS)
      return isAnswered
    })
  const response = await answering
  const id = response.headers.get('x-request-id') ?? response.headers.get('request-id') ?? ''
  await response.text().catch(() => undefined)
  let record: RecordedRequest | undefined
  await until('the record is written', async () => {
    // A kept answer must not end while a slow disk writes.
    if (clock.waitingFor(WRITE_EVERY_MS) > 0) clock.advance(WRITE_EVERY_MS)
    record = await records.find(id)
    return record !== undefined
  })
  return { status: response.status, record: record! }
}

function script(mainReply: Reply, spareReply?: Reply): void {
  main.reply(mainReply)
  if (spareReply !== undefined) spare.reply(spareReply)
}

// Closes the circuits that the test before opened.
beforeEach(() => clock.advance(OPEN_MS_MAX))

const FAILURE = answer('broken', { status: 500 })
let unique = 0
const bodyOf = ({ model, request }: TextRouteCase, change: object = {}) => {
  unique += 1
  return { model, ...request, user: `user-${unique}`, ...change }
}

describe.each(routes)('the record of a request for $title', route => {
  const name = route.title
  const bodyFor = () =>
    route.isMessages === true
      ? { model: route.model, ...route.request, metadata: { user_id: `user-${(unique += 1)}` } }
      : bodyOf(route)

  test('an answered request has its charge, its hold and the provider that served it', async () => {
    script(route.answer(COUNTS))

    const { status, record } = await sent(route.path, bodyFor(), {
      headers: { 'x-service-tags': 'team=red' },
    })

    expect(status).toBe(200)
    expect(record).toMatchObject({
      route: name,
      status: 200,
      accountId: ada.id,
      model: route.model,
      attempts: [{ provider: 'main' }],
      isReplay: false,
      clientDisconnected: false,
      tags: { team: 'red' },
      userId: `user-${unique}`,
    })
    expect(record.errorCode).toBeUndefined()
    expect(record.cost).toBeGreaterThan(0n)
    expect(record.held).toBeGreaterThan(0n)
    expect(record.firstByteMs).toBeLessThanOrEqual(record.durationMs)
    expect(JSON.stringify({ ...record, cost: '', held: '' })).not.toContain('secret')
  })

  test('a refused request has the amounts that it needed and that were there', async () => {
    const { status, record } = await sent(route.path, bodyFor(), { key: poor.key })

    expect(status).toBe(402)
    expect(record).toMatchObject({
      accountId: poor.id,
      status: 402,
      errorCode: 'insufficient_balance',
      available: 0n,
      attempts: [],
    })
    expect(record.required).toBeGreaterThan(0n)
    expect([record.held, record.cost]).toEqual([undefined, undefined])
  })

  test('a request that another provider served has the failure before it', async () => {
    script(FAILURE, route.answer(COUNTS))

    const { status, record } = await sent(route.path, bodyFor())

    expect(status).toBe(200)
    expect(record.attempts).toEqual([{ provider: 'main', reason: 'server' }, { provider: 'spare' }])
  })

  test('a request that no provider served has all failures and its code', async () => {
    script(FAILURE, FAILURE)

    const { status, record } = await sent(route.path, bodyFor())

    expect(record).toMatchObject({ status, errorCode: 'upstream_error' })
    expect(record.attempts.map(({ reason }) => reason)).toEqual(['server', 'server'])
    expect(record.cost).toBeUndefined()
  })

  if (route.isReplayed)
    test('a replay has neither a charge nor a hold', async () => {
      script(route.answer(COUNTS))
      const body = bodyFor()
      await sent(route.path, body)

      const { record } = await sent(route.path, body)

      expect(record).toMatchObject({ status: 200, isReplay: true, model: route.model, attempts: [] })
      expect([record.held, record.cost]).toEqual([undefined, undefined])
    })
})

test('a stream that broke has status 200, the code of its last event, and its charge', async () => {
  const frame = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n`
  script(cutChunked([frame], EVENT_STREAM))

  const { record } = await sent(chat.path, bodyOf(chat, { stream: true }))

  expect(record).toMatchObject({
    status: 200,
    errorCode: 'upstream_error',
    attempts: [{ provider: 'main', reason: 'broken_stream' }],
  })
  expect(record.cost).toBeGreaterThan(0n)
})

test('a request of a suspended account is recorded, and one of an unknown key is not', async () => {
  const suspended = await gateway.account({ grant: '1' })
  await gateway.admin('POST', `accounts/${suspended.id}/suspend`, {})
  const unknown = await gateway.chat('tg_live_unknown', {})

  const { record } = await sent(chat.path, bodyOf(chat), { key: suspended.key })

  expect(record).toMatchObject({ accountId: suspended.id, status: 401, errorCode: 'account_suspended' })
  expect(await records.find(unknown.headers.get('x-request-id')!)).toBeUndefined()
})

test('a read leaves no record', async () => {
  const read = await fetch(`${gateway.url}/v1/balance`, { headers: { 'x-api-key': ada.key } })
  await sent(chat.path, bodyOf(chat), { key: poor.key })

  expect(await records.find(read.headers.get('x-request-id')!)).toBeUndefined()
})

describe('the record of an image request', () => {
  test('an image has the hold, the charge and the provider of its job, and leads to it', async () => {
    const { status, record } = await sent('/v1/images/generations', IMAGE)

    expect(status).toBe(200)
    expect(record).toMatchObject({ route: 'images', model: 'image-x', attempts: [{ provider: 'box' }] })
    expect(record.jobId).toStartWith('img_')
    expect(record.cost).toBe(record.held)
    expect((await records.find(record.jobId!))?.id).toBe(record.id)
  })

  test('a refused image has the amounts and no job', async () => {
    const { record } = await sent('/v1/images/generations', IMAGE, { key: poor.key })

    expect(record).toMatchObject({ status: 402, errorCode: 'insufficient_balance', available: 0n })
    expect([record.jobId, record.held]).toEqual([undefined, undefined])
  })

  test('a failed image has the failure of its job', async () => {
    const { status, record } = await sent('/v1/images/generations', {
      ...IMAGE,
      prompt: 'A bay [sandbox fail=UNSAFE]',
    })

    expect(record).toMatchObject({
      status,
      errorCode: 'UNSAFE',
      attempts: [{ provider: 'box', reason: 'generation_failed' }],
    })
    expect(record.cost).toBeUndefined()
  })

  test('a repeat with the same idempotency key is a replay of the same job', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await sent('/v1/images/generations', IMAGE, { headers })

    const { record } = await sent('/v1/images/generations', IMAGE, { headers })

    expect(record).toMatchObject({ isReplay: true, jobId: first.record.jobId, attempts: [] })
    expect([record.held, record.cost]).toEqual([undefined, undefined])
  })
})

test('a disk that takes no records stops no request, and doctor and the metrics say so', async () => {
  const other = await startTestGateway({
    environment: { TOLLGATE_REQUEST_RECORDS_DAYS: '7' },
    overrides: { clock },
  })
  // SQLite can neither open nor replace a folder.
  mkdirSync(join(other.dataDir, 'requests.sqlite'))
  const bob = await other.account()
  const answered = await other.chat(bob.key, {
    model: 'sandbox-chat',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const key = { authorization: `Bearer ${ADMIN_KEY}` }
  const metrics = async () => (await fetch(`${other.url}/metrics`, { headers: key })).text()

  await until('the record is lost', async () => {
    clock.advance(WRITE_EVERY_MS)
    return (await metrics()).includes('tollgate_request_records_total{outcome="dropped"} 1')
  })
  const { checks } = await other.admin<{ checks: { name: string; ok: boolean }[] }>('GET', 'doctor')
  await other.stop()

  expect(answered.status).toBe(200)
  expect(checks).toContainEqual(expect.objectContaining({ name: 'request records', ok: false }))
})
