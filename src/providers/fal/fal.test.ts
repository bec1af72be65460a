import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { falDialect } from '../../../test/support/simulators/media/fal.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { JOB_MS, openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import {
  htmlReply,
  jsonReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import type { MediaReply } from '../media/media-http.ts'
import { fal, probeFal } from './fal.ts'

const setup = {
  kind: 'fal',
  dialect: falDialect,
  provider: fal,
  baseUrl: 'https://queue.example.com',
  makes: 'video',
  model: 'fal-ai/kling-video/v2.1/master/text-to-video',
} as const
const open = (change: { readonly baseUrl?: string } = {}) => openAdapter({ ...setup, ...change })

describe('fal', () => {
  test('fal submits a job once', async () => {
    const { simulator, submitted, aCall } = open()

    await submitted(aCall({ prompt: 'Ein Türmchen' }))

    expect(simulator.ledger()).toMatchObject([
      { prompt: 'Ein Türmchen', durationMs: 5000, creates: 1, isConfirmed: true },
    ])
  })

  test('fal names the whole model in the submission, and the app alone in polls', async () => {
    const { clock, sent, provider, submitted } = open()
    const job = await submitted()
    clock.advance(JOB_MS)

    const outcome = await provider.poll(job)

    const path = '/fal-ai/kling-video/requests/00000000-0000-4000-8000-000000000000'
    expect(outcome.outcome).toBe('finished')
    expect(sent.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'POST /fal-ai/kling-video/v2.1/master/text-to-video',
      `GET ${path}/status`,
      `GET ${path}`,
    ])
  })

  test('fal sends the key only to the host of the base URL, even if its links name other hosts', async () => {
    const links = ['https://evil.example/fal-ai/other/requests/7', 'http://169.254.169.254/requests/7']
    for (const link of links) {
      const { sent, provider, aCall } = openAdapter({
        ...setup,
        dialect: { ...falDialect, created: () => createdWith(link) },
      })
      const outcome = await provider.submit(aCall())
      if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
      await provider.poll(accepted(aCall(), outcome.upstreamId))

      expect(outcome.upstreamId).toBe('fal-ai/kling-video/requests/7')
      expect(sent.map(({ url }) => url.origin)).toEqual(Array(2).fill('https://queue.example.com'))
    }
  })

  test('fal follows the app that the link to the result names', async () => {
    const { provider, aCall } = openAdapter({
      ...setup,
      dialect: {
        ...falDialect,
        created: () => createdWith('https://queue.example.com/fal-ai/other/requests/7'),
      },
    })

    expect(await provider.submit(aCall())).toMatchObject({ upstreamId: 'fal-ai/other/requests/7' })
  })

  test('fal does not follow a redirect', async () => {
    const { clock, row, aCall } = open()
    const sent: string[] = []
    const provider = fal({
      clock,
      secretOf: literalSecret,
      send: async ({ url }): Promise<MediaReply> => {
        sent.push(url.origin)
        return { reply: 'answer', status: 307, body: '' }
      },
    })

    const submit = await provider.submit(aCall())
    const poll = await provider.poll(accepted(aCall({ provider: row }), 'fal-ai/flux/requests/7'))

    expect([submit, poll]).toMatchObject([
      { outcome: 'rejected', reason: 'operator', status: 307 },
      { outcome: 'unavailable', problem: 'status 307' },
    ])
    expect(sent).toEqual(Array(2).fill('https://queue.example.com'))
  })

  test('fal finds the API under a base URL with a path', async () => {
    const { sent, provider, aCall } = open({ baseUrl: 'https://proxy.example.com/fal/' })

    await provider.submit(aCall())

    expect(sent[0]?.url.href).toBe(
      'https://proxy.example.com/fal/fal-ai/kling-video/v2.1/master/text-to-video',
    )
  })

  test.each(['id_with_slash', 'id_of_4_kb'] as const)(
    'fal polls a job with a strange id: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      simulator.scriptSubmits(behavior)
      const job = await submitted()
      clock.advance(JOB_MS)

      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )

  test('fal rejects an id that cannot be part of a path', async () => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits('id_of_dots')

    expect(await provider.submit(aCall())).toMatchObject({ outcome: 'rejected', reason: 'no_id' })
  })

  test('fal passes on an upstream id that the provider has used before', async () => {
    const { simulator, submitted } = open()
    simulator.scriptSubmits('accept', 'previous_id')

    const jobs = [await submitted(), await submitted()]

    expect(new Set(jobs.map(({ upstreamId }) => upstreamId)).size).toBe(1)
  })

  test.each([
    ['backwards', { outcome: 'running', upstreamStatus: 'IN_QUEUE', isKnownStatus: true }],
    ['unknown_status', { outcome: 'running', upstreamStatus: 'DREAMING', isKnownStatus: false }],
    ['no_status', { outcome: 'unavailable', problem: 'status 202' }],
    ['status_404', { outcome: 'unavailable', problem: 'status 404' }],
    ['status_429', { outcome: 'unavailable', problem: 'status 429', retryAfterS: 7 }],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('fal reports a status answered with %s as %j', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open()
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toEqual(outcome)
  })

  test.each(['status_401', 'status_404', 'status_429', 'status_500', 'html', 'reset'] as const)(
    'fal does not fail a completed job whose result is answered with %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      const job = await submitted()
      clock.advance(JOB_MS)
      simulator.scriptPolls('normal', behavior)

      const outcomes = [await provider.poll(job), await provider.poll(job)]

      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['unavailable', 'finished'])
    },
  )

  test('fal gives both requests of a poll one time limit', async () => {
    const { clock, provider, submitted, sent } = openAdapter({
      ...setup,
      dialect: {
        ...falDialect,
        task(job, context) {
          clock.advance(2000)
          return falDialect.task(job, context)
        },
      },
    })
    const job = await submitted()
    clock.advance(JOB_MS)

    await provider.poll({ ...job, timeoutMs: 9000 })

    expect(sent.slice(1).map(({ timeoutMs }) => timeoutMs)).toEqual([9000, 7000])
  })

  test.each<[string, Partial<SubmitCall['provider']>]>([
    [
      'has a key in an environment variable that is not set',
      { secret: { from: 'environment', variable: 'A' } },
    ],
    ['has no base URL', { baseUrl: '' }],
    ['has a header that cannot be sent', { headers: { 'x-a': 'ü→' } }],
  ])('fal sends nothing for a row that %s', async (_, change) => {
    const { sent, provider, row, aCall } = open()
    const call = aCall({ provider: { ...row, ...change } })

    expect(await provider.submit(call)).toMatchObject({ outcome: 'rejected', reason: 'operator' })
    expect(await provider.poll(accepted(call, 'fal-ai/flux/requests/7'))).toMatchObject({
      outcome: 'unavailable',
    })
    expect(sent).toEqual([])
  })

  test.each(['flux', '', '../flux', 'fal-ai/'])('fal sends nothing for the model %j', async model => {
    const { sent, provider, aCall } = open()

    expect(await provider.submit(aCall({ model }))).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
    })
    expect(sent).toEqual([])
  })

  test('fal reports a job of another kind of provider as unavailable', async () => {
    const { provider, aCall, sent } = open()

    expect(await provider.poll(accepted(aCall(), 'text2video/7'))).toMatchObject({ outcome: 'unavailable' })
    expect(sent).toEqual([])
  })
})

function createdWith(link: string) {
  const body = JSON.stringify({ request_id: '7', response_url: link, status_url: `${link}/status` })
  return { send: 'answer', status: 200, headers: {}, body } as const
}

describe('the probe of fal', () => {
  const clock = fakeClock()
  const row = mediaProviderRow('fal', 'https://queue.example.com', 'key-1')

  test.each([
    ['key-1', true, 'Responds (status 404).'],
    ['wrong', false, 'Refuses its key or its account (status 401).'],
  ])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
    const simulator = new MediaSimulator(falDialect, { clock, key: 'key-1' })
    const send = simulatedSend(request => simulator.handle(request), clock)

    const probed = await probeFal(
      { ...row, secret: { from: 'literal', value: key } },
      { send, secretOf: literalSecret },
    )

    expect(probed).toEqual({ ok, detail })
    expect(simulator.creates).toBe(0)
  })

  test.each<[SimulatedReply, boolean, string]>([
    [jsonReply({ detail: 'User is locked.' }, 403), false, 'Refuses its key or its account (status 403).'],
    [jsonReply({ detail: 'Too many requests' }, 429), true, 'Responds (status 429).'],
    [htmlReply(502), false, 'Responds with status 502.'],
    [{ send: 'reset' }, false, 'Does not respond (ECONNRESET).'],
  ])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
    const send = simulatedSend(() => reply, clock)

    expect(await probeFal(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })

  test('a row that cannot be called is not ok', async () => {
    const send = simulatedSend(() => htmlReply(), clock)
    const lost = { ...row, secret: { from: 'lost' } } as const

    expect((await probeFal(lost, { send, secretOf: literalSecret })).ok).toBe(false)
  })
})
