import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip, RUNNING } from '../../support/scripted-media.ts'
import {
  startScriptedVideos,
  startVideoGateway,
  videoModel,
  type VideoBody,
  type VideoGateway,
} from '../gateways/video-gateway.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Failed = {
  readonly error: { type: string; code?: string }
  readonly id: string
  readonly status?: string
}

async function expectSound(gateway: VideoGateway): Promise<void> {
  const { problems } = await gateway.admin<{ problems: unknown[] }>('POST', 'verify')
  expect(problems).toEqual([])
}

describe('on the sandbox', () => {
  let gateway: VideoGateway
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startVideoGateway()
  })
  beforeEach(async () => {
    ada = await gateway.account({ grant: '1' })
  })
  afterAll(async () => {
    await expectSound(gateway)
    await gateway.stop()
  })

  const film = (directives: string) => ({
    model: 'family-a',
    prompt: `A [sandbox ${directives}]`,
    duration: 5,
  })
  const reconcile = async (afterMs = 0) => {
    gateway.clock.setWallClock(gateway.clock.now() + afterMs)
    await gateway.admin('POST', 'reconcile')
  }
  const stateOf = async (id: string) =>
    (await gateway.get(ada.key, `/v1/videos/${id}`)).json() as Promise<VideoBody>

  const RELEASED = { available: '1', held: '0' }
  const HELD = { available: '0.5', held: '0.5' }
  const CHARGED = { available: '0.5', held: '0' }

  test.each([
    ['reject=FILE_DOWNLOAD_FAILED', 400, 'invalid_request_error', 'FILE_DOWNLOAD_FAILED'],
    ['reject=NO_SUCH_STYLE status=404', 400, 'invalid_request_error', 'NO_SUCH_STYLE'],
    ['reject=TIMEOUT status=408', 400, 'invalid_request_error', 'TIMEOUT'],
    ['reject=CONFLICT status=409', 400, 'invalid_request_error', 'CONFLICT'],
    ['reject=UNSAFE status=422', 400, 'invalid_request_error', 'UNSAFE'],
    ['reject=SLOW_DOWN status=429', 429, 'rate_limit_error', 'SLOW_DOWN'],
    ['reject=BAD_KEY status=401', 502, 'upstream_error', 'provider_unavailable'],
    ['reject=NO_CREDIT status=402', 502, 'upstream_error', 'provider_unavailable'],
    ['reject=FORBIDDEN status=403', 502, 'upstream_error', 'provider_unavailable'],
    ['submit=no_id', 502, 'upstream_error', undefined],
  ])(
    'a submission that is rejected (%s) is %d; the job failed, and its reserve is released at once',
    async (directive, status, type, code) => {
      const response = await gateway.create(ada.key, film(directive))

      const { error, id, ...rest } = (await response.json()) as Failed
      expect([response.status, error.type, error.code]).toEqual([status, type, code])
      expect(rest).toEqual({ cost_usd: '0' } as object)
      expect(await gateway.money(ada)).toEqual(RELEASED)
      expect(await stateOf(id)).toMatchObject({ id, status: 'failed', cost_usd: '0', error: { type } })
    },
  )

  test.each(['unknown', 'lost', 'not_sent'])(
    'a submission that ends in a 5xx or a network failure (%s) is 502 with the id, and its reserve stays held',
    async submit => {
      const response = await gateway.create(ada.key, film(`submit=${submit} never`))

      const { error, id, ...rest } = (await response.json()) as Failed
      expect([response.status, error.type, error.code]).toEqual([502, 'upstream_error', 'unknown_submit'])
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(rest as object).toEqual({ status: 'unknown_submit', estimated_cost_usd: '0.5' })
      expect(await gateway.money(ada)).toEqual(HELD)
      expect(await stateOf(id)).toEqual({
        id,
        status: 'unknown_submit',
        model: 'family-a',
        created: expect.any(Number),
        estimated_cost_usd: '0.5',
      })
    },
  )

  test('a submit that never left us is released at the next pass of the reconciler', async () => {
    const { id } = (await (await gateway.create(ada.key, film('submit=not_sent'))).json()) as Failed
    await reconcile()

    expect(await stateOf(id)).toMatchObject({ status: 'failed', cost_usd: '0' })
    expect(await gateway.money(ada)).toEqual(RELEASED)
  })

  test('unknown_submit that is found at the provider continues as that job, and is charged', async () => {
    const { id } = (await (await gateway.create(ada.key, film('submit=unknown delay_ms=0'))).json()) as Failed
    await reconcile()

    expect(await stateOf(id)).toMatchObject({ status: 'completed', duration: 5, cost_usd: '0.5' })
    expect(await gateway.money(ada)).toEqual(CHARGED)
  })

  test('unknown_submit that is found running is processing', async () => {
    const { id } = (await (await gateway.create(ada.key, film('submit=unknown never'))).json()) as Failed
    await reconcile()

    expect((await stateOf(id)).status).toBe('processing')
    expect(await gateway.money(ada)).toEqual(HELD)
  })

  test('unknown_submit is released when its 15 minutes are over, and not before', async () => {
    const { id } = (await (await gateway.create(ada.key, film('submit=lost'))).json()) as Failed
    await reconcile(15 * MINUTE_MS - 1)
    const before = await stateOf(id)
    await reconcile(1)

    expect(before.status).toBe('unknown_submit')
    expect(await stateOf(id)).toMatchObject({
      status: 'failed',
      cost_usd: '0',
      error: { type: 'upstream_error', code: 'submit_unconfirmed', param: null },
    })
    expect(await gateway.money(ada)).toEqual(RELEASED)
  })

  test('any other job is released after one day, and not before', async () => {
    const { id } = await gateway.accepted(ada.key, film('never'))
    await reconcile(DAY_MS - 1)
    const before = await stateOf(id)
    await reconcile(1)

    expect(before.status).toBe('processing')
    expect(await stateOf(id)).toMatchObject({
      status: 'failed',
      cost_usd: '0',
      error: { type: 'generation_error', code: 'job_overdue', param: null },
    })
    expect(await gateway.money(ada)).toEqual(RELEASED)
  })

  test('a job that failed at the provider has the reason in error and cost_usd "0", and its reserve is released', async () => {
    const { id } = await gateway.accepted(ada.key, film('delay_ms=0 fail=UNSAFE'))

    expect(await gateway.poll(ada.key, id)).toEqual({
      id,
      status: 'failed',
      model: 'family-a',
      created: expect.any(Number),
      cost_usd: '0',
      error: { message: expect.any(String), type: 'generation_error', code: 'UNSAFE', param: null },
    })
    expect(await gateway.money(ada)).toEqual(RELEASED)
  })

  test.each(['result=empty', 'result=empty uncounted'])(
    'a job that is completed without a clip (%s) is a failure',
    async directive => {
      const { id } = await gateway.accepted(ada.key, film(`delay_ms=0 ${directive}`))

      expect(await gateway.poll(ada.key, id)).toMatchObject({
        status: 'failed',
        error: { type: 'generation_error', param: null },
      })
      expect(await gateway.money(ada)).toEqual(RELEASED)
    },
  )

  test('a result that cannot be fetched for now leaves the job processing, and its reserve held', async () => {
    const { id } = await gateway.accepted(ada.key, film('delay_ms=0 result=unreachable'))
    const first = await gateway.poll(ada.key, id)
    gateway.clock.advance(15_000)
    const second = await gateway.poll(ada.key, id)

    expect([first.status, second.status]).toEqual(['processing', 'processing'])
    expect(await gateway.money(ada)).toEqual(HELD)
  })

  test('a result that can never be fetched is a failure', async () => {
    const { id } = await gateway.accepted(ada.key, film('delay_ms=0 result=refused'))

    expect(await gateway.poll(ada.key, id)).toMatchObject({
      status: 'failed',
      error: { code: 'result_lost' },
    })
    expect(await gateway.money(ada)).toEqual(RELEASED)
  })

  test('a poll that fails is not a failed job', async () => {
    const { id } = await gateway.accepted(ada.key, film('delay_ms=0 poll_failures=1'))

    const [first, second] = [await gateway.poll(ada.key, id), await gateway.poll(ada.key, id)]

    expect([first.status, second.status]).toEqual(['processing', 'completed'])
  })

  test('a status word that the adapter does not know is still running', async () => {
    const { id } = await gateway.accepted(ada.key, film('never upstream_status=expired'))

    expect((await gateway.poll(ada.key, id)).status).toBe('processing')
  })

  test('the reconciler settles a finished job without any poll of the client', async () => {
    await gateway.accepted(ada.key, film('delay_ms=0'))
    await reconcile(MINUTE_MS)

    expect(await gateway.money(ada)).toEqual(CHARGED)
  })

  test('many polls of a finished job charge it once', async () => {
    const { id } = await gateway.accepted(ada.key, film('delay_ms=0'))
    gateway.clock.advance(2000)

    const polls = await Promise.all(
      Array.from({ length: 20 }, () => gateway.get(ada.key, `/v1/videos/${id}`)),
    )

    expect(polls.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await gateway.money(ada)).toEqual(CHARGED)
  })

  test('of 50 parallel jobs on a balance for 5, five are accepted and the rest are 402', async () => {
    const rich = await gateway.account({ grant: '2.5' })

    const replies = await Promise.all(
      Array.from({ length: 50 }, () => gateway.create(rich.key, film('delay_ms=0'))),
    )

    const statuses = replies.map(({ status }) => status).toSorted((left, right) => left - right)
    expect(statuses).toEqual([...Array(5).fill(202), ...Array(45).fill(402)])
    expect(await gateway.money(rich)).toEqual({ available: '0', held: '2.5' })
    await reconcile(MINUTE_MS)
    expect(await gateway.money(rich)).toEqual({ available: '0', held: '0' })
  })

  describe('charge by the real duration', () => {
    test.each<[string, string, number, string]>([
      ["the provider's", 'clip_s=4 reported_s=4', 4, '0.4'],
      ["the provider's, up to 0.5 s off the clip's header", 'clip_s=4 reported_s=4.5', 4.5, '0.45'],
      ["the header's, where the provider is more than 0.5 s off", 'clip_s=4 reported_s=4.6', 4, '0.4'],
      ["the header's, where the provider reports less", 'clip_s=4 reported_s=1', 4, '0.4'],
      ["the header's, where the provider reports none", 'clip_s=3.25 reported_s=none', 3.25, '0.325'],
      ['never above the hold', 'clip_s=30 reported_s=30', 30, '0.5'],
    ])(
      'a clip on the sandbox is charged by its real duration: %s (%s)',
      async (_, directives, duration, cost) => {
        const { id } = await gateway.accepted(ada.key, film(`delay_ms=0 ${directives}`))

        expect(await gateway.poll(ada.key, id)).toMatchObject({
          status: 'completed',
          duration,
          cost_usd: cost,
        })
      },
    )

    test("a charge by the real duration frees the rest of a reserve for the engine's maximum", async () => {
      const rich = await gateway.account({ grant: '2' })
      const { id } = await gateway.accepted(rich.key, { model: 'family-a', prompt: 'A [sandbox delay_ms=0]' })
      const whileRunning = await gateway.money(rich)
      await gateway.poll(rich.key, id)

      expect(whileRunning).toEqual({ available: '0.5', held: '1.5' })
      expect(await gateway.money(rich)).toEqual({ available: '1.5', held: '0' })
    })

    test('a charge by the real duration is rounded up once to a billionth of a dollar', async () => {
      await gateway.admin('PUT', 'models/odd', videoModel('odd', { pricing: { per_second: '0.000000001' } }))
      const body = {
        model: 'odd',
        prompt: 'A [sandbox delay_ms=0 clip_s=4.001 reported_s=4.001]',
        duration: 10,
      }

      expect(await gateway.finished(ada.key, body)).toMatchObject({ cost_usd: '0.000000005' })
    })

    test('a charge by the real duration follows the price of the creation, whatever the price is now', async () => {
      await gateway.admin('PUT', 'models/repriced', videoModel('repriced'))
      const { id } = await gateway.accepted(ada.key, { ...film('delay_ms=0'), model: 'repriced' })
      await gateway.admin('PUT', 'models/repriced', videoModel('repriced', { pricing: { per_second: '90' } }))

      expect(await gateway.poll(ada.key, id)).toMatchObject({ cost_usd: '0.5' })
    })
  })
})

describe('with a scripted provider', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startScriptedVideos()
    ada = await gateway.account({ grant: '10' })
  })
  afterAll(async () => {
    await expectSound(gateway)
    await gateway.stop()
  })

  test('a result that the provider finishes after the release stays failed and costs nothing', async () => {
    gateway.media.polled = RUNNING
    const bob = await gateway.account({ grant: '1' })
    const { id } = await gateway.accepted(bob.key, { model: 'family-a', prompt: 'A', duration: 5 })
    gateway.clock.setWallClock(gateway.clock.now() + DAY_MS)
    await gateway.admin('POST', 'reconcile')
    gateway.media.polled = aClip({ durationMs: 5000 })
    await gateway.admin('POST', 'reconcile')

    expect(await gateway.poll(bob.key, id)).toMatchObject({ status: 'failed', cost_usd: '0' })
    expect(await gateway.money(bob)).toEqual({ available: '1', held: '0' })
  })

  test('a clip without a duration from the provider or its header is charged for the requested length', async () => {
    gateway.media.polled = aClip()
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })

    expect(await gateway.poll(ada.key, id)).toMatchObject({
      status: 'completed',
      duration: 5,
      cost_usd: '0.5',
    })
  })

  test.each(['clip.mp4', 'clip-faststart.mp4'])('the header of %s is read, wherever it is', async name => {
    const bytes = Uint8Array.from(readFileSync(join(import.meta.dirname, '../../fixtures/media', name)))
    gateway.media.polled = aClip({ bytes })
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A', duration: 5 })

    expect((await gateway.poll(ada.key, id)).duration).toBe(2.5)
  })

  test('two submits that get the same id: the second job fails, and its reserve is released', async () => {
    gateway.media.polled = RUNNING
    gateway.media.submitted = { outcome: 'accepted', upstreamId: 'the-same' } as SubmitOutcome
    const bob = await gateway.account({ grant: '1' })
    await gateway.accepted(bob.key, { model: 'family-a', prompt: 'A', duration: 4 })
    const response = await gateway.create(bob.key, { model: 'family-a', prompt: 'B', duration: 4 })
    gateway.media.submitted = undefined

    expect(response.status).toBe(502)
    expect(await gateway.money(bob)).toEqual({ available: '0.6', held: '0.4' })
  })
})
