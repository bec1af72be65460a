import { describe, expect, test, afterEach } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall, bytesInput, unconfirmed } from '../../../test/support/media-calls.ts'
import { klingProvider, literalSecret } from '../../../test/support/media-providers.ts'
import { klingDialect } from '../../../test/support/simulators/media/kling.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import {
  jsonReply,
  htmlReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { simulatedServer, type SimulatedServer } from '../../../test/support/simulators/simulated-server.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { mediaHttp, type MediaRequest } from '../media/media-http.ts'
import { kling, probeKling } from './kling.ts'

const keys = { accessKey: 'access-1', secretKey: 'secret-1' }
const JOB_MS = 5000
const HOUR_MS = 3_600_000

function open({ baseUrl = 'https://api.example.com', jobMs = JOB_MS } = {}) {
  const clock = fakeClock()
  const dialect = klingDialect({ keys, nowMs: () => clock.now() })
  const simulator = new MediaSimulator(dialect, { clock, jobMs })
  const sent: MediaRequest[] = []
  const send = simulatedSend(request => simulator.handle(request), clock)
  const provider = kling({
    clock,
    secretOf: literalSecret,
    send: async request => {
      sent.push(request)
      return send(request)
    },
  })
  const aCall = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(klingProvider(baseUrl, `${keys.accessKey},${keys.secretKey}`), {
      kind: 'video',
      durationMs: 5000,
      ...change,
    })
  const submitted = async (call = aCall()) => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, aCall, submitted }
}

describe('kling', () => {
  test('kling creates a job once, under our id', async () => {
    const { simulator, aCall, submitted } = open()
    const call = aCall({ prompt: 'Ein Türmchen' })

    await submitted(call)

    expect(simulator.ledger()).toMatchObject([
      {
        ourId: call.jobId,
        prompt: 'Ein Türmchen',
        durationMs: 5000,
        creates: 1,
        isConfirmed: true,
      },
    ])
  })

  test('kling queries a job under the kind that it was created with', async () => {
    const { clock, sent, provider, aCall, submitted } = open()
    const fromText = await submitted()
    const fromImage = await submitted(aCall({ images: [bytesInput(new Uint8Array([1, 2, 3]))] }))
    clock.advance(JOB_MS)

    const outcomes = [await provider.poll(fromText), await provider.poll(fromImage)]

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['finished', 'finished'])
    expect(sent.map(({ method, url }) => `${method} ${url.pathname.replace(/\d+$/, 'N')}`)).toEqual([
      'POST /v1/videos/text2video',
      'POST /v1/videos/image2video',
      'GET /v1/videos/text2video/N',
      'GET /v1/videos/image2video/N',
    ])
  })

  test('kling recovers a job that was created from an image', async () => {
    const { simulator, provider, aCall } = open()
    const call = aCall({ images: [bytesInput(new Uint8Array([1, 2, 3]))] })
    simulator.scriptSubmits('accept_reset')
    await provider.submit(call)

    const found = await provider.recover?.(unconfirmed(call))

    const [{ id } = {}] = simulator.ledger()
    expect(found).toMatchObject({ outcome: 'running', upstreamId: `image2video/${id}` })
  })

  test('kling recovers a job whose create was answered with a code that is not documented', async () => {
    const { simulator, provider, aCall } = open()
    const call = aCall()
    simulator.scriptSubmits({
      accepts: true,
      answer: { reply: jsonReply({ code: 1999, data: { task_id: '700000000001' } }) },
    })

    const outcome = await provider.submit(call)
    const found = await provider.recover?.(unconfirmed(call))

    const [{ id } = {}] = simulator.ledger()
    expect(outcome).toMatchObject({ outcome: 'unknown' })
    expect(found).toMatchObject({ outcome: 'running', upstreamId: `text2video/${id}` })
  })

  test('kling refuses a job with another external id', async () => {
    const { simulator, provider, aCall, submitted } = open()
    const other = aCall()
    const { upstreamId } = await submitted(other)
    const call = aCall()
    // The provider's own id of another job is looked up as if it were ours.
    const asked = unconfirmed({ ...call, jobId: upstreamId.replace('text2video/', '') })

    expect(await provider.recover?.(asked)).toMatchObject({ outcome: 'unavailable' })
    expect(simulator.ledger().length).toBe(1)
  })

  test('kling recovers no job whose answer does not name its external id', async () => {
    const { simulator, provider, aCall, submitted } = open()
    const call = aCall()
    await submitted(call)
    simulator.scriptPolls({ reply: jsonReply({ code: 0, data: { task_id: '1', task_status: 'submitted' } }) })

    expect(await provider.recover?.(unconfirmed(call))).toEqual({
      outcome: 'unavailable',
      problem: 'the answer does not name this job as its external_task_id',
    })
    expect(await provider.recover?.(unconfirmed(call))).toMatchObject({ outcome: 'running' })
  })

  test.each(['id_with_slash', 'id_of_4_kb'] as const)(
    'kling polls a job with a strange id: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      simulator.scriptSubmits(behavior)
      const job = await submitted()
      clock.advance(JOB_MS)

      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )

  test('kling rejects an id that cannot be part of a path', async () => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits('id_of_dots')

    expect(await provider.submit(aCall())).toMatchObject({ outcome: 'rejected', reason: 'no_id' })
  })

  test('kling passes on an upstream id that the provider has used before', async () => {
    const { simulator, submitted } = open()
    simulator.scriptSubmits('accept', 'previous_id')

    const jobs = [await submitted(), await submitted()]

    expect(new Set(jobs.map(({ upstreamId }) => upstreamId)).size).toBe(1)
  })

  test.each([
    ['backwards', { outcome: 'running', upstreamStatus: 'submitted', isKnownStatus: true }],
    ['unknown_status', { outcome: 'running', upstreamStatus: 'dreaming', isKnownStatus: false }],
    ['no_status', { outcome: 'unavailable', problem: 'status 200' }],
    ['status_404', { outcome: 'unavailable', problem: 'status 404, code 1203' }],
    ['status_429', { outcome: 'unavailable', problem: 'status 429, code 1302', retryAfterS: 7 }],
    [{ reply: jsonReply({ code: 5001 }) }, { outcome: 'unavailable', problem: 'status 200, code 5001' }],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('kling reports a poll answered with %s as %j', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open()
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toEqual(outcome)
  })

  test('kling reports a forgotten job as unavailable, and its submission as absent', async () => {
    const { clock, simulator, provider, aCall, submitted } = open()
    simulator.scriptSubmits('forgotten')
    const call = aCall()
    const job = await submitted(call)

    clock.advance(JOB_MS + 1000)

    expect((await provider.poll(job)).outcome).toBe('unavailable')
    expect(await provider.recover?.(unconfirmed(call))).toEqual({ outcome: 'absent' })
  })

  test('kling reports the limit of parallel jobs as a rate limit', async () => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits({ accepts: false, answer: { reply: jsonReply({ code: 1303 }, 429) } })

    expect(await provider.submit(aCall())).toMatchObject({
      outcome: 'rejected',
      reason: 'rate_limited',
      code: '1303',
    })
  })

  test('kling renews its token before the old one expires', async () => {
    const { clock, provider, submitted } = open({ jobMs: Infinity })
    const job = await submitted()
    const outcomes = new Set<string>()

    for (let minutes = 0; minutes < 24 * 60; minutes += 7) {
      clock.advance(7 * 60_000)
      outcomes.add((await provider.poll(job)).outcome)
    }

    expect([...outcomes]).toEqual(['running'])
  })

  test('kling signs a new token after a refused one', async () => {
    const { clock, provider, submitted } = open({ jobMs: Infinity })
    const job = await submitted()

    clock.setWallClock(clock.now() + HOUR_MS)
    const refused = await provider.poll(job)
    const second = await provider.poll(job)

    expect(refused).toEqual({ outcome: 'unavailable', problem: 'status 401, code 1004' })
    expect(second.outcome).toBe('running')
  })

  test.each([59_000, -25 * 60_000])(
    "kling accepts that the provider's clock is %d ms behind",
    async behindMs => {
      const clock = fakeClock()
      const dialect = klingDialect({ keys, nowMs: () => clock.now() - behindMs })
      const simulator = new MediaSimulator(dialect, { clock })
      const provider = kling({
        clock,
        secretOf: literalSecret,
        send: simulatedSend(request => simulator.handle(request), clock),
      })
      const row = klingProvider('https://api.example.com', 'access-1,secret-1')

      expect((await provider.submit(aSubmitCall(row, { kind: 'video' }))).outcome).toBe('accepted')
    },
  )

  test.each(['https://api.example.com/', 'https://api.example.com/v1', 'https://api.example.com/v1/'])(
    'kling finds the API under the base URL %s',
    async baseUrl => {
      const { sent, submitted } = open({ baseUrl })

      await submitted()

      expect(sent[0]?.url.href).toBe('https://api.example.com/v1/videos/text2video')
    },
  )

  test.each<[string, Partial<SubmitCall>]>([
    ['makes an image', { kind: 'image' }],
    ['has one key only', { provider: klingProvider('https://api.example.com', 'access') }],
    ['has three keys', { provider: klingProvider('https://api.example.com', 'a,b,c') }],
    ['has no key', { provider: { ...klingProvider('https://api.example.com'), secret: { from: 'none' } } }],
    ['has no base URL', { provider: klingProvider('') }],
    [
      'has a header that cannot be sent',
      { provider: { ...klingProvider('https://api.example.com'), headers: { 'x-a': 'ü→' } } },
    ],
  ])('kling sends nothing for a row that %s', async (_, change) => {
    const { sent, provider, aCall } = open()

    const outcome = await provider.submit(aCall(change))

    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'operator' })
    expect(sent).toEqual([])
  })

  test('kling names the environment variables of keys that are not set', async () => {
    const { provider, aCall } = open()
    const secret = { from: 'environment_pair', variables: ['KLING_ACCESS', 'KLING_SECRET'] } as const

    const outcome = await provider.submit(
      aCall({ provider: { ...klingProvider('https://api.example.com'), secret } }),
    )

    expect(outcome).toMatchObject({
      message:
        'The provider cannot be called: the environment variables KLING_ACCESS and KLING_SECRET are not both set.',
    })
  })

  test('kling reports a job of another kind of provider as unavailable', async () => {
    const { provider, aCall, sent } = open()

    expect(await provider.poll(accepted(aCall(), 'vid_1'))).toMatchObject({ outcome: 'unavailable' })
    expect(sent).toEqual([])
  })

  test("kling reports a wrong secret key as the operator's trouble", async () => {
    const { provider, aCall } = open()

    const outcome = await provider.submit(
      aCall({ provider: klingProvider('https://api.example.com', 'access-1,wrong') }),
    )

    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'operator', code: '1002' })
  })
})

describe('the probe of kling', () => {
  const clock = fakeClock()
  const http = httpClient(new Timers(clock))
  let server: SimulatedServer | undefined

  afterEach(() => server?.close())

  function probe(provider: Provider) {
    return probeKling(provider, { send: mediaHttp(http), clock, secretOf: literalSecret })
  }

  function serve(handle: () => SimulatedReply): string {
    server = simulatedServer(handle, clock)
    return server.url
  }

  test.each([
    ['access-1,secret-1', true, 'Responds (status 200, code 0).'],
    ['access-1,wrong', false, 'Refuses its keys (status 401, code 1002).'],
    ['access-1', false, 'It cannot be called: api_key is not an access key and a secret key.'],
  ])('a provider with the keys %s is ok: %p', async (written, ok, detail) => {
    const simulator = new MediaSimulator(klingDialect({ keys, nowMs: () => clock.now() }), { clock })
    server = simulatedServer(request => simulator.handle(request), clock)

    const probed = await probe(klingProvider(server.url, written))

    expect(probed).toEqual({ ok, detail })
    expect([simulator.creates, simulator.polls]).toEqual([0, 0])
  })

  test.each([
    [jsonReply({ code: 1102 }, 429), false, 'Refuses the account (status 429, code 1102).'],
    [jsonReply({ code: 1302 }, 429), true, 'Responds (status 429, code 1302).'],
    [jsonReply({ code: 1202 }, 404), false, 'Responds, but not like the Kling API (status 404, code 1202).'],
    [jsonReply({ code: 5001 }, 503), false, 'Responds, but not like the Kling API (status 503, code 5001).'],
    [htmlReply(), false, 'Responds, but not like the Kling API (status 200).'],
  ])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
    expect(await probe(klingProvider(serve(() => reply)))).toEqual({ ok, detail })
  })

  test('a provider that is not there is reported with the code of the network', async () => {
    const probed = await probe(klingProvider(refusedUrl()))

    expect(probed.ok).toBe(false)
    expect(probed.detail).toStartWith('Does not respond (')
  })
})
