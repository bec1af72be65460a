import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { RESULT_FETCHES_MAX } from '../../../src/gateway/media/settle/fetch-result.ts'
import { FETCH_AGAIN_MS } from '../../../src/gateway/media/settle/settle-job.ts'
import type { PollOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import { CALLS_MAX, SLOW_MS } from '../../../src/reconciler/sweep.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip, scriptedMedia, type ScriptedMedia } from '../../support/scripted-media.ts'
import { imageModel, images, startScriptedImages, STEP_MS } from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'
import { hasCome, videoModel } from '../gateways/video-gateway.ts'

/** Longer than a sweep that asks providers waits for anything. */
const SWEEP_MS = 10_000
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount
let other: ScriptedMedia
/** A site with results, each of which comes when a test says so. */
let site: ReturnType<typeof Bun.serve>
let fetches: { readonly path: string; readonly send: (response?: Response) => void }[]

beforeEach(async () => {
  fetches = []
  site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch({ url }) {
      const { promise, resolve } = Promise.withResolvers<Response>()
      fetches.push({ path: new URL(url).pathname, send: (response = new Response(PNG)) => resolve(response) })
      return promise
    },
  })
  other = scriptedMedia()
  gateway = await startScriptedImages({
    environment: { TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on' },
    providers: [{ id: 'pics', kind: 'openai-images', base_url: 'http://127.0.0.1:9', api_key: 'secret-key' }],
    models: [
      videoModel('film'),
      imageModel('draw-pics', { upstreams: [{ provider: 'pics', model: 'gpt-image-1' }] }),
    ],
    otherMedia: { 'openai-images': other },
  })
  ada = await gateway.account({ grant: '100' })
})
afterEach(async () => {
  for (const { send } of fetches) send()
  await gateway.stop()
  await site.stop(true)
})

/** A result that is a link to the site. */
const linked = (path: string): PollOutcome => ({
  outcome: 'finished',
  result: { outputs: [{ from: 'url', url: `${site.url.origin}${path}` }], isCounted: true },
})

/** Advances the clock in steps until the promise has settled. */
async function settled<Value>(promise: Promise<Value>): Promise<Value> {
  while (!(await hasCome(promise))) gateway.clock.advance(1000)
  return promise
}

/** A pass of the reconciler. The clock stands still until `isDone`, because a pass ends early when its time is over. */
async function passUntil(what: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const pass = gateway.reconcile()
  await until(what, isDone)
  await settled(pass)
}

/** A pass in which the fetch of that number begins. */
const fetchPass = (number: number) => passUntil(`fetch ${number} has begun`, () => fetches.length === number)

/** Without the poll of a lookup. */
const stateOf = async (id: string) => (await gateway.admin<{ state: string }>('GET', `jobs/${id}`)).state
const untilCompleted = (id: string) =>
  until('the job is completed', async () => (await stateOf(id)) === 'completed')

/** A video job that runs. Its reply does not wait. */
async function runningVideo(): Promise<void> {
  const response = await gateway.create(ada.key, { model: 'film', duration: 4 }, { path: '/v1/videos' })
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
}

describe('a pass of the reconciler', () => {
  test('a pass of the reconciler begins the fetch of a large result, and does not wait for its end', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = linked('/large.png')
    gateway.clock.advance(STEP_MS)
    const pass = gateway.reconcile()
    await until('the fetch has begun', () => fetches.length === 1)
    gateway.clock.advance(SWEEP_MS)

    const first = await pass
    const second = await settled(gateway.reconcile())

    expect([first, second]).toMatchObject([
      { polled: 1, ended: 0 },
      { polled: 0, ended: 0 },
    ])
    expect(fetches.map(({ path }) => path)).toEqual(['/large.png'])
    fetches[0]!.send()
    await untilCompleted(id)
    expect(await gateway.money(ada)).toEqual({ available: '99.96', held: '0' })
    await gateway.verify()
  })

  test('a pass of the reconciler settles other jobs while a result is fetched', async () => {
    const slow = await gateway.running(ada.key)
    gateway.media.polled = linked('/large.png')
    gateway.clock.advance(STEP_MS)
    await fetchPass(1)
    const quick = await gateway.running(ada.key, { model: 'draw-pics' })
    other.polled = images(['one'])
    gateway.clock.advance(STEP_MS)

    await passUntil('the other job is completed', async () => (await stateOf(quick.id)) === 'completed')

    expect(await gateway.admin<object>('GET', `jobs/${slow.id}`)).toMatchObject({
      state: 'processing',
      why: 'The provider finished the job, and its result is being fetched.',
    })
  })

  test('a pass of the reconciler settles the jobs of other providers if one does not answer', async () => {
    // More than a sweep asks for at a time.
    for (let count = 0; count < CALLS_MAX + 6; count += 1) await runningVideo()
    const quick = await gateway.running(ada.key, { model: 'draw-pics' })
    const answer = Promise.withResolvers<PollOutcome>()
    gateway.media.polled = answer.promise
    other.polled = images(['one'])
    const { polls } = gateway.media
    gateway.clock.advance(STEP_MS)

    const pass = gateway.reconcile()
    await until('no more calls are made', () => gateway.media.polls - polls === CALLS_MAX)
    gateway.clock.advance(SLOW_MS)

    await untilCompleted(quick.id)
    answer.resolve({ outcome: 'unavailable', problem: 'timeout' })
    await settled(pass)
  })
})

test('the fetches of a provider do not keep its other jobs waiting', async () => {
  const [linkedCount, otherCount] = [64, 6]
  for (let count = 0; count < linkedCount + otherCount; count += 1) await runningVideo()
  let polls = 0
  gateway.media.poll = async () => {
    polls += 1
    return polls <= linkedCount ? linked(`/${polls}.mp4`) : aClip({ durationMs: 4000 })
  }
  gateway.clock.advance(STEP_MS)

  const pass = gateway.reconcile()
  await until('the other jobs are completed', async () => {
    const { data } = await gateway.admin<{ data: readonly object[] }>('GET', 'jobs?state=completed')
    return data.length === otherCount
  })

  expect(await settled(pass)).toMatchObject({ polled: linkedCount + otherCount, ended: otherCount })
})

test('results are fetched a bounded number at a time', async () => {
  const count = RESULT_FETCHES_MAX + 3
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.push((await gateway.running(ada.key)).id)
  let polls = 0
  gateway.media.poll = async () => {
    polls += 1
    return linked(`/${polls}.png`)
  }
  gateway.clock.advance(STEP_MS)

  await passUntil('all are polled', () => polls === count && fetches.length >= RESULT_FETCHES_MAX)
  const begun = fetches.length
  await until('all are fetched', () => {
    for (const { send } of fetches) send()
    return fetches.length === count
  })

  expect([begun, polls]).toEqual([RESULT_FETCHES_MAX, count])
  await until('all are paid', async () => (await gateway.money(ada)).held === '0')
  await gateway.verify()
})

test('while a result is fetched, the job is not due for a poll on any other node', async () => {
  const { id } = await gateway.running(ada.key)
  gateway.media.polled = linked('/large.png')
  gateway.clock.advance(STEP_MS)
  await fetchPass(1)
  const nextPollAtMs = async () =>
    Date.parse((await gateway.admin<{ next_poll_at: string }>('GET', `jobs/${id}`)).next_poll_at)

  for (let minutes = 0; minutes < 5; minutes += 1) {
    for (let steps = 0; steps < 12; steps += 1) {
      gateway.clock.advance(5000)
      await hasCome(Promise.resolve())
    }
    await until('the claim is renewed', async () => (await nextPollAtMs()) > gateway.clock.now() + 5000)
  }
  fetches[0]!.send()
  await untilCompleted(id)

  expect(fetches).toHaveLength(1)
})

test.each<[string, () => Response]>([
  ['an error page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  ['a JSON error', () => Response.json({ error: 'expired' })],
  ['an empty file', () => new Response('', { headers: { 'content-type': 'image/png' } })],
])('%s in place of a result is not charged, and the link is tried again', async (_, page) => {
  const { id } = await gateway.running(ada.key)
  const why = async () => (await gateway.admin<{ why: string }>('GET', `jobs/${id}`)).why
  gateway.media.polled = linked('/page')
  gateway.clock.advance(STEP_MS)
  await fetchPass(1)
  fetches[0]!.send(page())
  await until('the job is left as it is', async () => (await why()).includes('the body is none of image/png'))
  const before = await gateway.money(ada)
  gateway.clock.advance(FETCH_AGAIN_MS)
  await fetchPass(2)
  fetches[1]!.send()
  await untilCompleted(id)

  expect([before, await gateway.money(ada)]).toEqual([
    { available: '99.96', held: '0.04' },
    { available: '99.96', held: '0' },
  ])
  await gateway.verify()
})

test('a client that waits gets the fetched image as base64, and never the link (rule 4)', async () => {
  gateway.media.polled = linked('/a.png')
  const reply = gateway.create(ada.key)
  await until('the job is accepted', async () => {
    const { data } = await gateway.admin<{ data: readonly { readonly state: string }[] }>('GET', 'jobs')
    return data[0]?.state === 'processing'
  })
  await until('the request waits', () => gateway.clock.waitingFor(STEP_MS) > 0)
  gateway.clock.advance(STEP_MS)
  await until('the result is fetched', () => fetches.length === 1)
  fetches[0]!.send()

  const response = await reply
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(text).toContain(Buffer.from(PNG).toString('base64'))
  expect(text).not.toContain(site.url.host)
})
