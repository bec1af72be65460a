import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { geminigenDialect } from '../../../test/support/simulators/media/geminigen.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import type { MediaRequest } from '../media/media-http.ts'
import { geminigen, probeGeminigen } from './geminigen.ts'

const JOB_MS = 5000
const KEY = 'key-1'

function open(baseUrl = 'https://api.example.com') {
  const clock = fakeClock()
  const simulator = new MediaSimulator(geminigenDialect, { clock, key: KEY, jobMs: JOB_MS })
  const sent: MediaRequest[] = []
  const simulated = simulatedSend(request => simulator.handle(request), clock)
  const ports = {
    secretOf: literalSecret,
    send: async (request: MediaRequest) => {
      sent.push(request)
      return simulated(request)
    },
  }
  const row = mediaProviderRow('geminigen', baseUrl, KEY)
  const provider = geminigen(ports)
  const aCall = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(row, { kind: 'video', model: 'veo-3.1-fast', durationMs: 8000, ...change })
  const submitted = async (call = aCall()) => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, ports, row, aCall, submitted }
}

describe('geminigen', () => {
  test('geminigen creates a job once, with a form, and polls it by its id', async () => {
    const { simulator, sent, provider, aCall, submitted } = open()

    await provider.poll(
      await submitted(aCall({ prompt: 'Ein Türmchen', images: [bytesInput(new Uint8Array(9))] })),
    )

    expect(simulator.ledger()).toMatchObject([
      { prompt: 'Ein Türmchen', durationMs: 8000, creates: 1, isConfirmed: true },
    ])
    expect(simulator.asked[0]).toMatchObject({ inputs: ['input-0.png'], extra: { route: 'video-gen/veo' } })
    expect(sent.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'POST /uapi/v1/video-gen/veo',
      'GET /uapi/v1/history/c558a44c-c91c-11f0-98b4-000000000000',
    ])
    expect(sent.map(({ headers }) => headers.get('x-api-key'))).toEqual([KEY, KEY])
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([null, null])
  })

  test('geminigen sends a form as a server reads it', async () => {
    const { provider, aCall, row } = open()
    let form: FormData | undefined
    const reading = geminigen({
      secretOf: literalSecret,
      async send({ headers, body }) {
        const bytes = typeof body === 'object' ? await bytesOf(body.stream) : ''
        form = await new Response(bytes, {
          headers: { 'content-type': headers.get('content-type') ?? '' },
        }).formData()
        return { reply: 'none', isSent: false, problem: 'ECONNREFUSED' }
      },
    })

    await reading.submit(
      aCall({ provider: row, images: [bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')] }),
    )

    const file = form?.get('ref_images')
    expect(form?.get('prompt')).toBe('A lighthouse at dawn')
    expect(form?.get('duration')).toBe('8')
    expect(file).toMatchObject({ name: 'input-0.webp', type: 'image/webp' })
    expect(await (file as File).bytes()).toEqual(new Uint8Array([1, 2, 3]))
    expect(provider.pollEveryMsMin).toBeGreaterThan(0)
  })

  test.each(['', '/uapi/v1', '/uapi/v1/'])(
    'geminigen finds the API under a base URL that ends with %j',
    async end => {
      const { sent, submitted } = open(`https://api.example.com${end}`)

      await submitted()

      expect(sent[0]?.url.href).toBe('https://api.example.com/uapi/v1/video-gen/veo')
    },
  )

  test.each(['id_with_slash', 'id_of_4_kb'] as const)(
    'geminigen polls a job with a strange id: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      simulator.scriptSubmits(behavior)
      const job = await submitted()
      clock.advance(JOB_MS)

      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )

  test.each([
    ['unknown_status', { outcome: 'running', upstreamStatus: '7 Dreaming', isKnownStatus: false }],
    ['backwards', { outcome: 'running', upstreamStatus: '1 Processing', isKnownStatus: true }],
    ['no_status', { outcome: 'unavailable', problem: 'status 200' }],
    ['status_404', { outcome: 'unavailable', problem: 'status 404, code HISTORY_NOT_FOUND' }],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('geminigen reports a poll answered with %s as %j', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open()
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toEqual(outcome)
  })

  test.each<[string, Partial<SubmitCall>, string]>([
    ['has no base URL', { provider: mediaProviderRow('geminigen', '') }, 'operator'],
    ['has a model of no family', { model: 'other' }, 'operator'],
    ['has a video', { videos: [{ from: 'url', url: 'https://example.com/a.mp4' }] }, 'invalid'],
  ])('geminigen sends nothing for a job that %s', async (_, change, reason) => {
    const { sent, provider, aCall } = open()

    expect(await provider.submit(aCall(change))).toMatchObject({ outcome: 'rejected', reason })
    expect(sent).toEqual([])
  })
})

describe('the probe of geminigen', () => {
  test.each([
    [KEY, true, 'Responds (status 200).'],
    ['wrong', false, 'Refuses its key (status 401, code API_KEY_NOT_FOUND).'],
  ])('the probe of geminigen with the key %s is ok: %p', async (key, ok, detail) => {
    const { ports, simulator, row } = open()

    expect(await probeGeminigen({ ...row, secret: { from: 'literal', value: key } }, ports)).toEqual({
      ok,
      detail,
    })
    expect([simulator.creates, simulator.polls]).toEqual([0, 0])
  })

  test.each([
    [200, '{"user_credit":{"available_credit":0}}', false, 'Accepts its key, but its account has no credit.'],
    [200, '{"user_credit":{}}', true, 'Responds (status 200).'],
    [429, '', true, 'Responds (status 429).'],
    [200, '<html>', false, 'Responds, but not like the GeminiGen API (status 200).'],
    [404, '', false, 'Responds, but not like the GeminiGen API (status 404).'],
  ])('the probe of geminigen of an answer with %d %j is ok: %p', async (status, body, ok, detail) => {
    const send = async () => ({ reply: 'answer', status, headers: {}, body }) as const

    expect(await probeGeminigen(open().row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })

  test('the probe of geminigen reports a provider that is not there, and a row that cannot be called', async () => {
    const { row } = open()
    const send = async () => ({ reply: 'none', isSent: false, problem: 'ECONNREFUSED' }) as const
    const ports = { send, secretOf: literalSecret }

    expect(await probeGeminigen(row, ports)).toEqual({
      ok: false,
      detail: 'Does not respond (ECONNREFUSED).',
    })
    expect((await probeGeminigen({ ...row, baseUrl: 'x' }, ports)).detail).toStartWith('It cannot be called')
  })
})
