import { beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { minimaxV1Dialect, minimaxV2Dialect } from '../../../test/support/simulators/media/minimax.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { until } from '../../../test/support/until.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import type { MediaRequest } from '../media/media-http.ts'
import { minimax, probeMinimax } from './minimax.ts'

const JOB_MS = 5000
const KEY = 'key-1'
const models = { v1: 'MiniMax-Hailuo-2.3', v2: 'MiniMax-H3' }

/** How long each answer takes. */
let delayMs = 0
beforeEach(() => {
  delayMs = 0
})

function open(version: 'v1' | 'v2' = 'v1', baseUrl = 'https://api.example.com') {
  const clock = fakeClock()
  const dialect = version === 'v1' ? minimaxV1Dialect : minimaxV2Dialect
  const simulator = new MediaSimulator(dialect, {
    clock,
    key: KEY,
    jobMs: JOB_MS,
    filesUrl: () => 'https://cdn',
  })
  const sent: MediaRequest[] = []
  const simulated = simulatedSend(request => simulator.handle(request), clock)
  const ports = {
    clock,
    secretOf: literalSecret,
    send: async (request: MediaRequest) => {
      sent.push(request)
      const reply = await simulated(request)
      clock.advance(delayMs)
      return reply
    },
  }
  const row = mediaProviderRow('minimax', baseUrl, KEY)
  const provider = minimax(ports)
  const aCall = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(row, { kind: 'video', durationMs: 6000, model: models[version], ...change })
  const submitted = async (call = aCall()) => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, ports, row, aCall, submitted }
}

const pathsOf = (sent: readonly MediaRequest[]) =>
  sent.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)

describe('minimax v1', () => {
  test('minimax v1 retrieves the link of a finished job with a second request, and a new one with each poll', async () => {
    const { clock, sent, provider, submitted } = open()
    const job = await submitted()
    clock.advance(JOB_MS)

    const outcomes = [await provider.poll(job), await provider.poll(job)]

    expect(outcomes[0]).toEqual({
      outcome: 'finished',
      result: { outputs: [{ from: 'url', url: 'https://cdn/0-0.mp4' }], isCounted: true },
    })
    const poll = [
      'GET /v1/query/video_generation?task_id=106916112212000',
      'GET /v1/files/retrieve?file_id=176844028768000',
    ]
    expect(pathsOf(sent)).toEqual(['POST /v1/video_generation', ...poll, ...poll])
  })

  test('minimax v1 has one time limit for both requests of a poll', async () => {
    const { clock, sent, provider, submitted } = open()
    const job = await submitted()
    clock.advance(JOB_MS)
    delayMs = 700

    await provider.poll({ ...job, timeoutMs: 1000 })

    expect(sent.slice(1).map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 300])
  })

  test('minimax v1 leaves a job as it is that succeeded without a file', async () => {
    const { clock, simulator, provider, submitted } = open()
    simulator.scriptSubmits('no_outputs')
    const job = await submitted()
    clock.advance(JOB_MS)

    expect(await provider.poll(job)).toEqual({ outcome: 'unavailable', problem: 'status 200, no file' })
  })

  test.each(['status_500', 'status_401', 'status_429', 'html', 'reset', 'silence'] as const)(
    'minimax v1 leaves a job as it is whose link cannot be retrieved: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open()
      const job = await submitted()
      clock.advance(JOB_MS)
      simulator.scriptPolls('normal', behavior)

      const polled = provider.poll({ ...job, timeoutMs: 1000 })
      if (behavior === 'silence') await until('the provider is silent', () => clock.waiting > 0)
      clock.advance(1000)

      expect((await polled).outcome).toBe('unavailable')
      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )
})

describe.each(['v1', 'v2'] as const)('minimax %s', version => {
  test('minimax creates a job once', async () => {
    const { simulator, aCall, submitted } = open(version)

    await submitted(aCall({ prompt: 'Ein Türmchen' }))

    expect(simulator.ledger()).toMatchObject([
      { prompt: 'Ein Türmchen', durationMs: 6000, creates: 1, isConfirmed: true },
    ])
  })

  test.each(['', '/', '/v1', '/v2/'])(
    'minimax finds the API under a base URL that ends with %j',
    async end => {
      const { sent, submitted } = open(version, `https://api.example.com/proxy${end}`)

      // The simulator does not know the prefix.
      await submitted().catch(() => undefined)

      expect(sent[0]?.url.href).toBe(`https://api.example.com/proxy/${version}/video_generation`)
    },
  )

  test.each(['id_with_slash', 'id_of_4_kb'] as const)(
    'minimax polls a job with a strange id: %s',
    async behavior => {
      const { clock, simulator, provider, submitted } = open(version)
      simulator.scriptSubmits(behavior)
      const job = await submitted()
      clock.advance(JOB_MS)

      expect((await provider.poll(job)).outcome).toBe('finished')
    },
  )

  test.each([
    ['unknown_status', { outcome: 'running', isKnownStatus: false }],
    ['backwards', { outcome: 'running', isKnownStatus: true }],
    ['no_status', { outcome: 'unavailable' }],
    ['status_404', { outcome: 'unavailable' }],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('minimax reports a poll answered with %s', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open(version)
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toMatchObject(outcome)
  })

  test('minimax does not show that the credit of the operator is used up', async () => {
    const { simulator, provider, aCall } = open(version)
    simulator.scriptSubmits('out_of_credit')

    expect(await provider.submit(aCall())).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
      code: '1008',
    })
  })

  test.each<[string, Partial<SubmitCall>, string]>([
    ['makes an image', { kind: 'image' }, 'operator'],
    ['has no base URL', { provider: mediaProviderRow('minimax', '') }, 'operator'],
    ['has scenes', { scenes: ['one'] }, 'invalid'],
  ])('minimax sends nothing for a job that %s', async (_, change, reason) => {
    const { sent, provider, aCall } = open(version)

    expect(await provider.submit(aCall(change))).toMatchObject({ outcome: 'rejected', reason })
    expect(sent).toEqual([])
  })

  test('minimax reports a job of another kind of provider as unavailable', async () => {
    const { provider, aCall, sent } = open(version)

    expect(await provider.poll(accepted(aCall(), 'text2video/1'))).toMatchObject({ outcome: 'unavailable' })
    expect(sent).toEqual([])
  })
})

describe('the probe of minimax', () => {
  test.each([
    [KEY, true, 'Responds (status 200, code 2013).'],
    ['wrong', false, 'Refuses its key (status 200, code 1004).'],
  ])('the probe of minimax with the key %s is ok: %p', async (key, ok, detail) => {
    const { ports, simulator, row } = open()

    expect(await probeMinimax({ ...row, secret: { from: 'literal', value: key } }, ports)).toEqual({
      ok,
      detail,
    })
    expect(simulator.creates).toBe(0)
  })

  test.each([
    [200, '{"base_resp":{"status_code":1008}}', false, 'Refuses the account (status 200, code 1008).'],
    [200, '{"base_resp":{"status_code":1002}}', true, 'Responds (status 200, code 1002).'],
    [403, '', false, 'Refuses its key (status 403).'],
    [200, '<html>', false, 'Responds, but not like the MiniMax API (status 200).'],
    [502, '', false, 'Responds, but not like the MiniMax API (status 502).'],
  ])('the probe of minimax of an answer with %d %j is ok: %p', async (status, body, ok, detail) => {
    const { row } = open()
    const send = async () => ({ reply: 'answer', status, body }) as const

    expect(await probeMinimax(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })

  test('the probe of minimax reports a provider that is not there, and a row that cannot be called', async () => {
    const { row } = open()
    const send = async () => ({ reply: 'none', isSent: false, problem: 'ECONNREFUSED' }) as const
    const ports = { send, secretOf: literalSecret }

    expect(await probeMinimax(row, ports)).toEqual({ ok: false, detail: 'Does not respond (ECONNREFUSED).' })
    expect((await probeMinimax({ ...row, baseUrl: 'x' }, ports)).detail).toStartWith('It cannot be called')
  })
})
