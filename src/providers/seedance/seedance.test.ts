import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { seedanceDialect } from '../../../test/support/simulators/media/seedance.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import type { MediaRequest } from '../media/media-http.ts'
import { probeSeedance, seedance } from './seedance.ts'

const JOB_MS = 5000
const KEY = 'key-1'

function open() {
  const clock = fakeClock()
  const simulator = new MediaSimulator(seedanceDialect, { clock, key: KEY, jobMs: JOB_MS })
  const sent: MediaRequest[] = []
  const simulated = simulatedSend(request => simulator.handle(request), clock)
  const ports = {
    secretOf: literalSecret,
    send: async (request: MediaRequest) => {
      sent.push(request)
      return simulated(request)
    },
  }
  const row = mediaProviderRow('seedance', 'https://ark.example.com/api/v3', KEY)
  const provider = seedance(ports)
  const aCall = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(row, { kind: 'video', durationMs: 5000, ...change })
  const submitted = async (call = aCall()) => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, ports, row, aCall, submitted }
}

describe('seedance', () => {
  test('seedance creates a job once, and polls it by its id', async () => {
    const { simulator, sent, provider, aCall, submitted } = open()

    await provider.poll(await submitted(aCall({ prompt: 'Ein Türmchen' })))

    expect(simulator.ledger()).toMatchObject([
      { prompt: 'Ein Türmchen', durationMs: 5000, creates: 1, isConfirmed: true },
    ])
    expect(sent.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'POST /api/v3/contents/generations/tasks',
      'GET /api/v3/contents/generations/tasks/cgt-20260101000000-00000',
    ])
  })

  test.each(['id_with_slash', 'id_of_4_kb'] as const)(
    'seedance polls a job with a strange id: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      simulator.scriptSubmits(behavior)
      const job = await submitted()
      clock.advance(JOB_MS)

      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )

  test.each([
    ['unknown_status', { outcome: 'running', upstreamStatus: 'dreaming', isKnownStatus: false }],
    ['backwards', { outcome: 'running', upstreamStatus: 'queued', isKnownStatus: true }],
    ['no_status', { outcome: 'unavailable', problem: 'status 200' }],
    ['status_404', { outcome: 'unavailable', problem: 'status 404, code ResourceNotFound' }],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('seedance reports a poll answered with %s as %j', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open()
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toEqual(outcome)
  })

  test.each<[string, Partial<SubmitCall>, string]>([
    ['makes an image', { kind: 'image' }, 'operator'],
    ['has no base URL', { provider: mediaProviderRow('seedance', '') }, 'operator'],
    ['has scenes', { scenes: ['one'] }, 'invalid'],
  ])('seedance sends nothing for a job that %s', async (_, change, reason) => {
    const { sent, provider, aCall } = open()

    expect(await provider.submit(aCall(change))).toMatchObject({ outcome: 'rejected', reason })
    expect(sent).toEqual([])
  })
})

describe('the probe of seedance', () => {
  test.each([
    [KEY, true, 'Responds (status 200).'],
    ['wrong', false, 'Refuses its key (status 401, code AuthenticationError).'],
  ])('the probe of seedance with the key %s is ok: %p', async (key, ok, detail) => {
    const { ports, simulator, row } = open()

    expect(await probeSeedance({ ...row, secret: { from: 'literal', value: key } }, ports)).toEqual({
      ok,
      detail,
    })
    expect([simulator.creates, simulator.polls]).toEqual([0, 0])
  })

  test.each([
    [
      403,
      { code: 'AccountOverdueError' },
      false,
      'Refuses the account (status 403, code AccountOverdueError).',
    ],
    [400, { code: 'OperationDenied.X' }, false, 'Refuses the account (status 400, code OperationDenied.X).'],
    [429, { code: 'RateLimitExceeded' }, true, 'Responds (status 429, code RateLimitExceeded).'],
    [404, undefined, false, 'Responds, but not like the Ark API (status 404).'],
    [200, undefined, false, 'Responds, but not like the Ark API (status 200).'],
    [500, { code: 'X' }, false, 'Responds, but not like the Ark API (status 500, code X).'],
  ])('the probe of seedance of an answer with %d %j is ok: %p', async (status, error, ok, detail) => {
    const send = async () => ({ reply: 'answer', status, body: JSON.stringify({ error }) }) as const

    expect(await probeSeedance(open().row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })

  test('the probe of seedance reports a provider that is not there, and a row that cannot be called', async () => {
    const { row } = open()
    const send = async () => ({ reply: 'none', isSent: false, problem: 'ECONNREFUSED' }) as const
    const ports = { send, secretOf: literalSecret }

    expect(await probeSeedance(row, ports)).toEqual({ ok: false, detail: 'Does not respond (ECONNREFUSED).' })
    expect((await probeSeedance({ ...row, baseUrl: 'x' }, ports)).detail).toStartWith('It cannot be called')
  })
})
