import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { PollOutcome, SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip, RUNNING } from '../../support/scripted-media.ts'
import { until } from '../../support/until.ts'
import { hasCome, startScriptedVideos, startVideoGateway, type VideoBody } from '../gateways/video-gateway.ts'

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount

beforeAll(async () => {
  // The reconciler polls too, and these tests count polls.
  gateway = await startScriptedVideos({ environment: { TOLLGATE_RECONCILE_EVERY_S: '86400' } })
  ada = await gateway.account({ grant: '1000' })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.media.submitted = undefined
  gateway.media.polled = RUNNING
})

const STEP_MS = 2000

/** A request for a job that its provider has accepted, and for which a client may wait. */
async function waiting(body: object) {
  const { clock, media } = gateway
  const [timersBefore, submitsBefore] = [clock.waiting, media.submits.length]
  const reply = gateway.create(ada.key, { model: 'family-a', prompt: 'A', duration: 5, ...body })
  await until('the submit has begun', () => media.submits.length > submitsBefore)
  const id = media.submits.at(-1)!.jobId
  await until('the submit was answered', async () => {
    const response = await gateway.get(ada.key, `/v1/videos/${id}`)
    return ((await response.json()) as VideoBody).status !== 'pending'
  })
  if (!(await hasCome(reply))) await until('the request waits', () => clock.waiting > timersBefore)
  return { id, reply }
}

/** Advances the time by steps, and lets the gateway work in between. */
async function pass(ms: number, reply: Promise<unknown>): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    gateway.clock.advance(Math.min(STEP_MS, left))
    await hasCome(reply)
  }
}

describe('rule 7: without wait and timeout', () => {
  test('the reply does not wait for the provider to finish', async () => {
    const { reply } = await waiting({})

    expect((await reply).status).toBe(202)
  })

  test.each([[{ wait: false }], [{ wait: null, timeout: null }], [{ wait: 'false' }]])(
    '%j does not wait',
    async body => {
      const { reply } = await waiting(body)

      expect((await reply).status).toBe(202)
    },
  )

  test('a job that its provider finishes within the submit is answered with its clip', async () => {
    gateway.media.submitted = aClip({ durationMs: 5000 }) as SubmitOutcome

    const response = await gateway.create(ada.key, { model: 'family-a', prompt: 'A', duration: 5 })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'completed', duration: 5, cost_usd: '0.5' })
  })

  test('the reply waits until the provider has answered the submit', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const reply = gateway.create(ada.key, { model: 'family-a', prompt: 'A' })
    const early = await hasCome(reply)
    await pass(100_000, reply)
    const later = await hasCome(reply)
    answer.resolve({ outcome: 'rejected', reason: 'invalid', status: 400, code: 'NO', message: 'No.' })

    expect([early, later]).toEqual([false, false])
    expect((await reply).status).toBe(400)
  })

  test('a provider that does not answer the submit within 150 s gets its client a 202 with the id', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const submitsBefore = gateway.media.submits.length
    const reply = gateway.create(ada.key, { model: 'family-a', prompt: 'A' })
    await until('the submit has begun', () => gateway.media.submits.length > submitsBefore)
    await pass(152_000, reply)

    const response = await reply
    const { id } = (await response.json()) as VideoBody

    answer.resolve({ outcome: 'accepted', upstreamId: `late-${id}` })
    expect(response.status).toBe(202)
    await until('the job runs', async () => (await gateway.poll(ada.key, id)).status === 'processing')
  })
})

describe('rule 7: with wait or timeout', () => {
  test.each([
    ['wait: true', { wait: true }],
    ['any timeout', { timeout: 30 }],
    ['a timeout beside wait: false', { wait: false, timeout: 30 }],
  ])('%s holds the connection and returns the clip', async (_, body) => {
    const { id, reply } = await waiting(body)
    const isEarly = await hasCome(reply)
    gateway.media.polled = aClip({ durationMs: 5000 })
    gateway.clock.advance(STEP_MS)

    const response = await reply

    expect([isEarly, response.status]).toEqual([false, 200])
    expect(await response.json()).toEqual({
      id,
      status: 'completed',
      model: 'family-a',
      created: expect.any(Number),
      duration: 5,
      cost_usd: '0.5',
      data: [{ url: `${gateway.url}/v1/videos/${id}/content` }],
    })
  })

  test.each([0.5, 1, 2])('a timeout of %d s polls at its end', async timeout => {
    gateway.media.pollEveryMsMin = STEP_MS
    const { reply } = await waiting({ timeout })
    gateway.media.polled = aClip({ durationMs: 5000 })
    gateway.clock.advance(timeout * 1000)

    const { status } = await reply

    gateway.media.pollEveryMsMin = 1000
    expect(status).toBe(200)
  })

  test('a poll at the end of a short wait that is not answered within a second leaves a 202', async () => {
    const { id, reply } = await waiting({ timeout: 1 })
    const answer = Promise.withResolvers<PollOutcome>()
    gateway.media.polled = answer.promise
    gateway.clock.advance(1000)
    const early = await hasCome(reply)
    gateway.clock.advance(1000)

    const response = await reply

    answer.resolve(RUNNING)
    expect([early, response.status]).toEqual([false, 202])
    expect(await response.json()).toMatchObject({ id, status: 'processing' })
  })

  test('a provider that takes a moment to answer and allows a poll every 2 s is polled at its pace', async () => {
    const { clock, media } = gateway
    media.pollEveryMsMin = STEP_MS
    const { id, reply } = await waiting({ wait: true })
    const pollsBefore = media.polls
    const pollsTooEarly: number[] = []
    for (let polls = 1; polls <= 4; polls += 1) {
      const answer = Promise.withResolvers<PollOutcome>()
      media.polled = answer.promise
      for (let pauseMs = 20; pauseMs < STEP_MS; pauseMs += 20) {
        clock.advance(20)
        await hasCome(reply)
      }
      pollsTooEarly.push(media.polls - pollsBefore - (polls - 1))
      clock.advance(20)
      // A poll begins with a commit, which can wait for another one.
      await until(`poll ${polls}`, () => media.polls - pollsBefore >= polls)
      clock.advance(20)
      answer.resolve(RUNNING)
      // Waits until the poll has been noted.
      await gateway.get(ada.key, `/v1/videos/${id}`)
      await hasCome(reply)
    }
    media.pollEveryMsMin = 1000
    media.polled = aClip({ durationMs: 5000 })
    await pass(2 * STEP_MS, reply)

    expect(pollsTooEarly).toEqual([0, 0, 0, 0])
    expect((await reply).status).toBe(200)
  })

  test('the gateway polls the provider every 2 s up to 90 s; then 202, and the job stays running', async () => {
    const { id, reply } = await waiting({ wait: true })
    const pollsBefore = gateway.media.polls
    for (let polls = 1; polls <= 44; polls += 1) {
      gateway.clock.advance(STEP_MS)
      await until(`poll ${polls}`, () => gateway.media.polls - pollsBefore === polls)
      // Waits until the poll has been noted.
      await gateway.get(ada.key, `/v1/videos/${id}`)
    }
    const polls = gateway.media.polls - pollsBefore
    const isEarly = await hasCome(reply)
    gateway.clock.advance(STEP_MS)
    const response = await reply
    gateway.media.polled = aClip({ durationMs: 5000 })
    const later = await gateway.poll(ada.key, id)

    expect([polls, isEarly, response.status]).toEqual([44, false, 202])
    expect(await response.json()).toMatchObject({ id, status: 'processing', estimated_cost_usd: '0.5' })
    expect(later.status).toBe('completed')
  })

  test.each<[string, unknown, number]>([
    ['lowers the wait', 3, 3],
    ['may be a fraction', 2.5, 2.5],
    ['may be a numeric string', '4', 4],
    ['cannot raise the wait', 1000, 90],
    ['that is not numeric is 90', 'soon', 90],
    ['that is not numeric is 90', true, 90],
    ['that is not numeric is 90', '', 90],
  ])('a timeout %s: %p waits %p s', async (_, timeout, seconds) => {
    const { reply } = await waiting({ timeout })
    await pass(seconds * 1000 - 500, reply)
    const isEarly = await hasCome(reply)
    gateway.clock.advance(500)

    expect([isEarly, (await reply).status]).toEqual([false, 202])
  })

  test.each([0, -5, '0'])('a timeout of %p waits zero seconds', async timeout => {
    const { reply } = await waiting({ timeout })

    expect((await reply).status).toBe(202)
  })

  test('the time that the submit took counts', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const submitsBefore = gateway.media.submits.length
    const reply = gateway.create(ada.key, { model: 'family-a', prompt: 'A', timeout: 10 })
    await until('the submit has begun', () => gateway.media.submits.length > submitsBefore)
    await pass(8000, reply)
    answer.resolve({ outcome: 'accepted', upstreamId: `slow-${gateway.media.submits.length}` })
    await hasCome(reply)
    await pass(1000, reply)
    const isEarly = await hasCome(reply)
    gateway.clock.advance(1000)

    expect([isEarly, (await reply).status]).toEqual([false, 202])
  })

  test('rule 8: a failed generation is 502 with cost_usd "0", and the reserve is released', async () => {
    const bob = await gateway.account({ grant: '1' })
    const submitsBefore = gateway.media.submits.length
    gateway.media.polled = { outcome: 'failed', code: 'UNSAFE', message: 'Not this.' }
    const timersBefore = gateway.clock.waiting
    const body = { model: 'family-a', prompt: 'A', duration: 5, wait: true }
    const reply = gateway.create(bob.key, body)
    await until('the request waits', () => {
      return gateway.media.submits.length > submitsBefore && gateway.clock.waiting > timersBefore
    })
    await hasCome(reply)
    await pass(4000, reply)

    const response = await reply

    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(await response.json()).toEqual({
      error: { message: 'Not this.', type: 'generation_error', code: 'UNSAFE', param: null },
      id: expect.stringMatching(/^vid_/),
      cost_usd: '0',
    })
    expect(await gateway.money(bob)).toEqual({ available: '1', held: '0' })
  })

  test('a client that leaves a wait does not cancel its job', async () => {
    const leaving = new AbortController()
    const submitsBefore = gateway.media.submits.length
    const request = fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'family-a', prompt: 'A', duration: 5, wait: true }),
      signal: leaving.signal,
    }).catch(() => 'left')
    await until('the submit has begun', () => gateway.media.submits.length > submitsBefore)
    leaving.abort()
    await request
    const id = gateway.media.submits.at(-1)!.jobId
    gateway.media.polled = aClip({ durationMs: 5000 })

    await until('the job has ended', async () => (await gateway.poll(ada.key, id)).status === 'completed')
  })
})

test('TOLLGATE_VIDEO_WAIT_S sets the limit of the wait', async () => {
  const short = await startVideoGateway({ environment: { TOLLGATE_VIDEO_WAIT_S: '4' } })
  const { key } = await short.account()
  const reply = short.create(key, { model: 'family-a', prompt: 'A [sandbox never]', wait: true, timeout: 60 })
  await until('the request waits', () => short.clock.waitingFor(STEP_MS) > 0)
  await hasCome(reply)
  short.clock.advance(3000)
  const isEarly = await hasCome(reply)
  short.clock.advance(1000)
  const { status } = await reply

  await short.stop()
  expect([isEarly, status]).toEqual([false, 202])
})
