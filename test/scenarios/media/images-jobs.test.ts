import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { PollOutcome, SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { RUNNING } from '../../support/scripted-media.ts'
import {
  aPng,
  contentsOf,
  errorOf,
  images,
  startScriptedImages,
  STEP_MS,
  type ImageJobBody,
  type MediaError,
} from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'
import { hasCome } from '../gateways/video-gateway.ts'

const DAY_MS = 86_400_000
const WAIT_MS = 150_000

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedImages()
  ada = await gateway.account({ grant: '1' })
})
afterEach(() => gateway.stop())

/** Advances the clock to an instant of the wait, a step at a time, each once the request waits again. */
async function waitFor(reply: Promise<Response>, totalMs: number): Promise<boolean> {
  let isAnswered = false
  void reply.then(() => (isAnswered = true))
  for (let waitedMs = 0; waitedMs < totalMs; waitedMs += STEP_MS) {
    await until('the request waits', () => isAnswered || gateway.clock.waitingFor(STEP_MS) > 0)
    if (isAnswered) return true
    gateway.clock.advance(Math.min(STEP_MS, totalMs - waitedMs))
  }
  return hasCome(reply)
}

/** Lets the only job's wait take a step, in which its provider is polled once, and its answer is recorded. */
async function pollOnce(reply: Promise<Response>): Promise<void> {
  const { data } = await gateway.admin<{ data: readonly { readonly id: string }[] }>('GET', 'jobs')
  const { polls } = gateway.media
  await waitFor(reply, STEP_MS)
  await until('the provider is polled', () => gateway.media.polls > polls)
  // Shares the poll that is under way.
  await gateway.lookup(ada.key, data[0]!.id)
}

/** Resolves when the provider has accepted the only job. */
async function untilAccepted(): Promise<void> {
  await until('the job is accepted', async () => {
    const { data } = await gateway.admin<{ data: readonly { readonly state: string }[] }>('GET', 'jobs')
    return data[0]?.state === 'processing'
  })
}

/** The money movements of the account, newest first. */
async function statement(): Promise<readonly { readonly kind: string; readonly amount_usd: string }[]> {
  const { data } = await gateway.admin<{ data: { kind: string; amount_usd: string }[] }>(
    'GET',
    `accounts/${ada.id}/statement`,
  )
  return data.map(({ kind, amount_usd }) => ({ kind, amount_usd }))
}

describe('a job that its provider accepts', () => {
  test('a job that its provider accepts is polled until it is done, and answered with 200 (rule 3)', async () => {
    const reply = gateway.create(ada.key, { n: 2 })
    await untilAccepted()
    await pollOnce(reply)
    gateway.media.polled = images(['one', 'two'])
    await pollOnce(reply)

    const response = await reply
    expect(response.status).toBe(200)
    const body = (await response.json()) as Parameters<typeof contentsOf>[0] & { cost_usd: string }
    expect([body.cost_usd, contentsOf(body)]).toEqual(['0.08', ['one', 'two']])
    expect(await gateway.money(ada)).toEqual({ available: '0.92', held: '0' })
  })

  test('a job that its provider accepts is answered with 202 after 150 s, and not before', async () => {
    const reply = gateway.create(ada.key)
    await untilAccepted()

    const isEarly = await waitFor(reply, WAIT_MS - 1)
    gateway.clock.advance(1)
    const response = await reply

    expect(isEarly).toBe(false)
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^img_[0-9a-hjkmnp-tv-z]{26}$/),
      status: 'processing',
      estimated_cost_usd: '0.04',
    })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0.04' })
  })

  test('a job that its provider accepts is polled every 2 s of the wait at most', async () => {
    const reply = gateway.create(ada.key)
    await untilAccepted()

    for (let steps = 0; steps < 10; steps += 1) await pollOnce(reply)
    const { polls } = gateway.media
    gateway.media.polled = images(['done'])
    await pollOnce(reply)

    expect(polls).toBe(10)
    expect((await reply).status).toBe(200)
  })

  test('a job that its provider accepts continues after the 202, and the lookup finds it finished', async () => {
    const { id } = await gateway.running(ada.key, { n: 3 })
    const running = await gateway.poll(ada.key, id)
    gateway.media.polled = images(['one', 'two'])

    const done = await gateway.poll(ada.key, id)
    const again = await gateway.poll(ada.key, id)

    expect(running).toEqual({ id, status: 'processing', estimated_cost_usd: '0.12' })
    const data = ['one', 'two'].map(text => ({ b64_json: aPng(text).toBase64() }))
    expect(done).toEqual({ id, status: 'completed', cost_usd: '0.08', data })
    expect(again).toEqual(done)
    expect(await gateway.money(ada)).toEqual({ available: '0.92', held: '0' })
    await gateway.verify()
  })

  test('a job that its provider accepts continues if its client disconnects during the wait', async () => {
    const leaving = new AbortController()
    const reply = fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}` },
      body: JSON.stringify({ model: 'draw-1', prompt: 'A boat' }),
      signal: leaving.signal,
    })
    await until('the job is submitted', () => gateway.media.submits.length === 1)
    leaving.abort()
    const end = await reply.catch((error: unknown) => error)
    gateway.media.polled = images(['one'])

    gateway.clock.advance(STEP_MS)
    await gateway.reconcile()

    expect(end).toBeInstanceOf(Error)
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
    await gateway.verify()
  })

  test('a job that its provider accepts continues if its client disconnects before the submission is answered', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const leaving = new AbortController()
    const reply = fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}` },
      body: JSON.stringify({ model: 'draw-1', prompt: 'A boat' }),
      signal: leaving.signal,
    })
    await until('the job is submitted', () => gateway.media.submits.length === 1)
    leaving.abort()
    await reply.catch(() => undefined)

    answer.resolve(images(['one']))

    await until('the job is charged', async () => (await gateway.money(ada)).available === '0.96')
    expect(gateway.media.submits).toHaveLength(1)
  })

  test('a job that its provider accepts is settled once when a wait, a lookup and the reconciler see its end together', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.clock.advance(STEP_MS)
    gateway.media.polled = images(['one'])

    await Promise.all([...Array.from({ length: 20 }, () => gateway.lookup(ada.key, id)), gateway.reconcile()])

    expect((await gateway.poll(ada.key, id)).status).toBe('completed')
    expect(await statement()).toEqual([
      { kind: 'capture', amount_usd: '0' },
      { kind: 'hold', amount_usd: '-0.04' },
      { kind: 'grant', amount_usd: '1' },
    ])
    await gateway.verify()
  })
})

/** How a submit ends, and what the client gets. */
const submitEnds: readonly (readonly [
  title: string,
  outcome: SubmitOutcome,
  status: number,
  error: object,
  failureIsFinal: boolean,
])[] = [
  ...[400, 404, 408, 409, 413, 422].map(
    status =>
      [
        `a 4xx of the provider (${status})`,
        {
          outcome: 'rejected',
          reason: 'invalid',
          status,
          code: 'FILE_DOWNLOAD_FAILED',
          message: 'Dead link.',
        },
        400,
        { type: 'invalid_request_error', code: 'FILE_DOWNLOAD_FAILED', message: 'Dead link.' },
        true,
      ] as const,
  ),
  [
    "the provider's rate limit",
    {
      outcome: 'rejected',
      reason: 'rate_limited',
      status: 429,
      code: 'slow_down',
      message: 'Slow down, you have less than $5.0 in credit.',
      retryAfterS: 7,
    },
    429,
    {
      type: 'rate_limit_error',
      code: 'slow_down',
      message: 'The provider accepts no more jobs at the moment. Try again later.',
    },
    true,
  ],
  ...[401, 402, 403].map(
    status =>
      [
        `the operator's trouble at the provider (${status})`,
        {
          outcome: 'rejected',
          reason: 'operator',
          status,
          code: 'arrears',
          message: 'Top up your account at pics.',
        },
        502,
        {
          type: 'upstream_error',
          code: 'provider_unavailable',
          message: 'The model is not available at its provider. Try another model.',
        },
        true,
      ] as const,
  ),
  [
    'a 200 without an id',
    { outcome: 'rejected', reason: 'no_id', status: 200, message: 'No id in {"secret":1}.' },
    502,
    { type: 'upstream_error', message: 'The provider answered without an id for the job.' },
    true,
  ],
  [
    'a success without an image',
    { outcome: 'finished', result: { outputs: [], isCounted: true } },
    502,
    { type: 'generation_error', message: 'The provider finished the job without a result.' },
    true,
  ],
  [
    'a success without an image, of a provider that does not count',
    { outcome: 'finished', result: { outputs: [], isCounted: false } },
    502,
    { type: 'generation_error', message: 'The provider finished the job without a result.' },
    true,
  ],
  [
    'a result that can never be fetched',
    {
      outcome: 'finished',
      result: { outputs: [{ from: 'url', url: 'http://169.254.169.254/a.png' }], isCounted: true },
    },
    502,
    { type: 'generation_error', code: 'result_lost', param: null },
    true,
  ],
  [
    'a 5xx or a broken connection',
    { outcome: 'unknown', problem: 'HTTP 503 from pics.example.com' },
    502,
    { type: 'upstream_error', code: 'unknown_submit', param: null },
    false,
  ],
  [
    'a refused connection',
    { outcome: 'not_sent', problem: 'ECONNREFUSED 10.1.2.3' },
    502,
    { type: 'upstream_error', code: 'unknown_submit', param: null },
    false,
  ],
]

describe('a submit that ends in', () => {
  test.each(submitEnds)('a submission that ends in %s', async (_, outcome, status, error, isFinal) => {
    gateway.media.submitted = outcome

    const response = await gateway.create(ada.key, { n: 2 })

    const body = await errorOf(response)
    const id = expect.stringMatching(/^img_/) as unknown as string
    expect([response.status, body.error]).toEqual([
      status,
      expect.objectContaining({ ...error, param: null }),
    ])
    const isLimited = status === 429
    expect(response.headers.get('x-should-retry')).toBe(isLimited ? null : 'false')
    expect(response.headers.get('retry-after')).toBe(isLimited ? '7' : null)
    expect(body).toEqual(
      isFinal
        ? { error: body.error, id, cost_usd: '0' }
        : { error: body.error, id, status: 'unknown_submit', estimated_cost_usd: '0.08' },
    )
    expect(JSON.stringify(body)).not.toMatch(/10\.1\.2\.3|example|Top up|secret/)
    expect(await gateway.poll(ada.key, body.id!)).toEqual(
      isFinal
        ? { id: body.id!, status: 'failed', cost_usd: '0', error: body.error }
        : { id: body.id!, status: 'unknown_submit', estimated_cost_usd: '0.08' },
    )
    expect(await gateway.money(ada)).toEqual(
      isFinal ? { available: '1', held: '0' } : { available: '0.92', held: '0.08' },
    )
    expect(gateway.media.submits).toHaveLength(1)
    await gateway.verify()
  })

  test('a submission that ends in an adapter that throws is unknown, because bytes may have left', async () => {
    const bug = Promise.reject<SubmitOutcome>(new Error('A bug.'))
    bug.catch(() => undefined)
    gateway.media.submitted = bug

    const response = await gateway.create(ada.key)

    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({
      status: 'unknown_submit',
      error: { code: 'unknown_submit' },
    })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0.04' })
  })

  test('a submission that ends in the id of another job fails the job, whose result nothing would follow', async () => {
    gateway.media.submitted = { outcome: 'accepted', upstreamId: 'same' }
    await gateway.running(ada.key)

    const response = await gateway.create(ada.key)

    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({
      error: { type: 'upstream_error', param: null },
      cost_usd: '0',
    })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0.04' })
  })

  test('a submission that ends in nothing for 150 s is a 202 that says processing, and the lookup says queued', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise

    const { id, status } = await gateway.running(ada.key)
    const queued = await gateway.poll(ada.key, id)
    answer.resolve(images(['late']))

    expect(status).toBe('processing')
    expect(queued).toEqual({ id, status: 'queued', estimated_cost_usd: '0.04' })
    await until('the job is completed', async () => (await gateway.poll(ada.key, id)).status === 'completed')
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  })
})

describe('a generation that fails', () => {
  const failed: PollOutcome = { outcome: 'failed', code: 'NSFW', message: 'The image was refused.' }

  test('a generation that fails during the wait is 502 generation_error with the code, the id and cost_usd "0"', async () => {
    gateway.media.polled = failed
    const reply = gateway.create(ada.key)
    await untilAccepted()
    await pollOnce(reply)

    const response = await reply
    const body = await errorOf(response)
    expect(response.status).toBe(502)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(body).toEqual({
      error: { message: 'The image was refused.', type: 'generation_error', code: 'NSFW', param: null },
      id: expect.stringMatching(/^img_/),
      cost_usd: '0',
    } as MediaError)
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test('the lookup of a generation that fails after the wait says failed, with the error', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = failed

    const job = await gateway.poll(ada.key, id)

    const error = { message: 'The image was refused.', type: 'generation_error', code: 'NSFW', param: null }
    expect(job).toEqual({ id, status: 'failed', cost_usd: '0', error })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })

  test("a generation that fails is shown without the provider's hosts, links and keys", async () => {
    const { id } = await gateway.running(ada.key)
    const message =
      'See https://pics.example.com/e?key=1, host gpu-7.pics.internal, key sk-live12345, by Kling.'
    gateway.media.polled = { outcome: 'failed', code: 'pics.example.com:E7', message }

    const job = await gateway.poll(ada.key, id)

    expect(job.error).toEqual({
      message: 'See [link], host [host], key [redacted], by [provider].',
      type: 'generation_error',
      code: '[host]:E7',
      param: null,
    })
  })

  test.each(['message', 'code'])(
    'a generation that fails is shown without a part of a host if the %s is cut',
    async field => {
      const { id } = await gateway.running(ada.key)
      const long = `${'x'.repeat(field === 'code' ? 190 : 990)} gpu-7.pics.internal`
      gateway.media.polled = { outcome: 'failed', message: 'No.', [field]: long }

      const job = await gateway.poll(ada.key, id)

      expect(JSON.stringify(job.error)).toContain('xxx ')
      expect(JSON.stringify(job.error)).not.toContain('gpu')
    },
  )

  test.each([
    ['an unknown state word', { outcome: 'running', upstreamStatus: 'PONDERING', isKnownStatus: false }],
    ['a failed poll', { outcome: 'unavailable', problem: '503' }],
  ] as const)('a generation that fails is not %s: the job goes on', async (_, polled) => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = polled

    const job = await gateway.poll(ada.key, id)
    gateway.media.polled = images(['one'])
    const done = await gateway.poll(ada.key, id)

    expect([job.status, done.status]).toEqual(['processing', 'completed'])
  })

  test('a generation that fails does not follow a poll that asks to wait: the next one comes after that time', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = { outcome: 'unavailable', problem: '429', retryAfterS: 60 }
    await gateway.poll(ada.key, id)
    gateway.media.polled = images(['one'])
    const { polls } = gateway.media

    const early = await gateway.poll(ada.key, id)
    const pollsEarly = gateway.media.polls
    gateway.clock.advance(60_000)
    const late = await gateway.poll(ada.key, id)

    expect([early.status, late.status]).toEqual(['processing', 'completed'])
    expect(pollsEarly).toBe(polls)
  })
})

test('a provider that asks to wait for a day is polled again after five minutes', async () => {
  const { id } = await gateway.running(ada.key)
  gateway.media.polled = { outcome: 'unavailable', problem: '429', retryAfterS: 86_400 }
  await gateway.poll(ada.key, id)
  gateway.media.polled = images(['one'])

  gateway.clock.advance(300_000)

  expect(await gateway.poll(ada.key, id)).toMatchObject({ status: 'completed' })
})

describe('GET /v1/images/jobs/{job_id}', () => {
  test("GET /v1/images/jobs/{job_id} of another account's job is 404, exactly as of a job that does not exist", async () => {
    const eve = await gateway.account()
    const { id } = await gateway.running(ada.key)
    const absent = `img_${'0'.repeat(26)}`

    const foreign = await gateway.lookup(eve.key, id)
    const missing = await gateway.lookup(eve.key, absent)

    expect([foreign.status, missing.status]).toEqual([404, 404])
    const text = (await foreign.text()).replace(id, absent)
    expect(text).toBe(await missing.text())
    expect((await gateway.lookup(ada.key, id)).status).toBe(200)
  })

  test.each(['img_', 'x', 'vid_00000000000000000000000000', 'img_0/../../etc', '%00', 'IMG_1'])(
    'GET /v1/images/jobs/{job_id} of %s is 404',
    async id => {
      expect((await gateway.lookup(ada.key, id)).status).toBe(404)
    },
  )

  test('GET /v1/images/jobs/{job_id} is 404 for the id of an image under the prefix of a video', async () => {
    const { id } = await gateway.running(ada.key)

    const response = await gateway.lookup(ada.key, id.replace('img_', 'vid_'))

    expect(response.status).toBe(404)
  })

  test('GET /v1/images/jobs/{job_id} needs a key', async () => {
    const { id } = await gateway.running(ada.key)

    const response = await fetch(`${gateway.url}/v1/images/jobs/${id}`)

    expect(response.status).toBe(401)
  })

  test('GET /v1/images/jobs/{job_id} shows a job to every key of its account', async () => {
    const { id } = await gateway.running(ada.key)
    const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${ada.id}/keys`, {})

    expect((await gateway.lookup(key, id)).status).toBe(200)
  })

  test('GET /v1/images/jobs/{job_id} costs nothing, and needs no money', async () => {
    const poor = await gateway.account({ grant: '0.04' })
    const { id } = await gateway.running(poor.key)

    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await gateway.lookup(poor.key, id)).status),
    )

    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await gateway.money(poor)).toEqual({ available: '0', held: '0.04' })
  })

  test("GET /v1/images/jobs/{job_id} polls the provider no more often than the provider's own minimum", async () => {
    const { id } = await gateway.running(ada.key)
    gateway.clock.advance(STEP_MS)
    const { polls } = gateway.media

    for (let asked = 0; asked < 20; asked += 1) await gateway.lookup(ada.key, id)

    expect(gateway.media.polls - polls).toBe(1)
  })

  test('GET /v1/images/jobs/{job_id} waits for a slow provider for 2 s at most', async () => {
    const { id } = await gateway.running(ada.key)
    const answer = Promise.withResolvers<PollOutcome>()
    gateway.media.polled = answer.promise
    const { polls } = gateway.media
    gateway.clock.advance(STEP_MS)

    const reply = gateway.lookup(ada.key, id)
    await until('the provider is asked', () => gateway.media.polls > polls)
    const isEarly = await hasCome(reply)
    gateway.clock.advance(STEP_MS)
    const job = (await (await reply).json()) as ImageJobBody
    answer.resolve(RUNNING)

    expect(isEarly).toBe(false)
    expect(job.status).toBe('processing')
  })
})

describe('7 days after its completion', () => {
  /** The paths of the image files, by the folder that they are in. */
  function files(): readonly string[] {
    return readdirSync(`${gateway.dataDir}/blobs`, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => entry.parentPath.split('/blobs/')[1]!.split('/')[0]!)
  }

  test('7 days after its completion, a result is archived: archived is true, data is empty, the row and its money stay', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = images(['one'])
    const done = await gateway.poll(ada.key, id)
    gateway.clock.jump(7 * DAY_MS - 4000)
    await gateway.reconcile()
    const kept = await gateway.poll(ada.key, id)
    const filesBefore = files()

    gateway.clock.advance(4000)
    await gateway.reconcile()
    const archived = await gateway.poll(ada.key, id)

    expect([kept, filesBefore]).toEqual([done, ['live']])
    expect(archived).toEqual({ id, status: 'completed', cost_usd: '0.04', data: [], archived: true })
    expect(files()).toEqual(['archive'])
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
    await gateway.verify()
  })

  test('7 days after its completion, a failed job stays as it was', async () => {
    gateway.media.submitted = { outcome: 'rejected', reason: 'invalid', status: 400, message: 'No.' }
    const { id } = await errorOf(await gateway.create(ada.key))
    const before = await gateway.poll(ada.key, id!)

    gateway.clock.jump(8 * DAY_MS)
    await gateway.reconcile()

    expect(await gateway.poll(ada.key, id!)).toEqual(before)
  })
})
