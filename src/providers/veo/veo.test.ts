import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { veoDialect } from '../../../test/support/simulators/media/veo.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { simulatedServer, type SimulatedServer } from '../../../test/support/simulators/simulated-server.ts'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { untrustedFetch } from '../fetch-untrusted/fetch-untrusted.ts'
import type { MediaRequest } from '../media/media-http.ts'
import { veo } from './veo.ts'

const JOB_MS = 5000
const KEY = 'key-1'
const BASE = 'https://api.example.com/v1beta'

function open(baseUrl = BASE) {
  const clock = fakeClock()
  const url = () => new URL(baseUrl).origin
  const simulator = new MediaSimulator(veoDialect, { clock, key: KEY, jobMs: JOB_MS, url })
  const sent: MediaRequest[] = []
  const send = simulatedSend(request => simulator.handle(request), clock)
  const provider = veo({
    secretOf: literalSecret,
    send: async request => {
      sent.push(request)
      return send(request)
    },
  })
  const aCall = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(mediaProviderRow('veo', baseUrl, KEY), { kind: 'video', durationMs: 8000, ...change })
  const submitted = async (call = aCall()) => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submission was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, aCall, submitted }
}

describe('veo', () => {
  test('veo creates a job once, with the inputs', async () => {
    const { simulator, aCall, submitted } = open()
    const image = bytesInput(new Uint8Array([1, 2, 3]))

    await submitted(aCall({ prompt: 'Ein Türmchen', images: [image], model: 'models/veo-3.1' }))

    expect(simulator.ledger()).toMatchObject([
      { prompt: 'Ein Türmchen', durationMs: 8000, creates: 1, isConfirmed: true },
    ])
    expect(simulator.asked[0]).toMatchObject({
      inputs: [new Uint8Array([1, 2, 3])],
      extra: { model: 'veo-3.1' },
    })
  })

  test('veo polls the operation by its name, with the key in its own header', async () => {
    const { sent, provider, submitted } = open()

    await provider.poll(await submitted())

    expect(sent.map(({ method, url }) => `${method} ${url.href}`)).toEqual([
      `POST ${BASE}/models/upstream-model:predictLongRunning`,
      `GET ${BASE}/models/veo-simulated/operations/000000000000`,
    ])
    expect(sent.map(({ headers }) => headers.get('x-goog-api-key'))).toEqual([KEY, KEY])
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([null, null])
  })

  test.each([
    ['backwards', { outcome: 'running', upstreamStatus: 'running', isKnownStatus: true }],
    ['no_status', { outcome: 'unavailable', problem: 'status 200' }],
    ['status_404', { outcome: 'unavailable', problem: 'status 404, code NOT_FOUND' }],
    [
      'status_429',
      { outcome: 'unavailable', problem: 'status 429, code RESOURCE_EXHAUSTED', retryAfterS: 7 },
    ],
    ['reset', { outcome: 'unavailable', problem: 'ECONNRESET' }],
  ] as const)('veo reports a poll answered with %s as %j', async (behavior, outcome) => {
    const { simulator, provider, submitted } = open()
    const job = await submitted()
    simulator.scriptPolls(behavior)

    expect(await provider.poll(job)).toEqual(outcome)
  })

  test('veo reports a clip that the content filter removed as a failure', async () => {
    const { clock, simulator, provider, submitted } = open()
    simulator.scriptSubmits('is_filtered')
    const job = await submitted()
    clock.advance(JOB_MS)

    expect(await provider.poll(job)).toMatchObject({ outcome: 'failed', code: 'RAI_MEDIA_FILTERED' })
  })

  test.each<[string, Partial<SubmitCall>]>([
    ['makes an image', { kind: 'image' }],
    ['has no base URL', { provider: mediaProviderRow('veo', '') }],
    [
      'has a header that cannot be sent',
      { provider: { ...mediaProviderRow('veo', BASE), headers: { 'x-a': 'ü→' } } },
    ],
  ])('veo sends nothing for a row that %s', async (_, change) => {
    const { sent, provider, aCall } = open()

    expect(await provider.submit(aCall(change))).toMatchObject({ outcome: 'rejected', reason: 'operator' })
    expect(sent).toEqual([])
  })

  test('veo sends nothing for a job that the API cannot make', async () => {
    const { sent, provider, aCall } = open()

    const outcome = await provider.submit(aCall({ scenes: ['one'] }))

    expect(outcome).toEqual({
      outcome: 'rejected',
      reason: 'invalid',
      message: 'The provider does not accept scenes.',
    })
    expect(sent).toEqual([])
  })

  test('veo reports a job of another kind of provider as unavailable', async () => {
    const { provider, aCall, sent } = open()

    expect(await provider.poll(accepted(aCall(), 'text2video/1'))).toMatchObject({ outcome: 'unavailable' })
    expect(sent).toEqual([])
  })
})

describe('the key of a download', () => {
  const servers: SimulatedServer[] = []
  const http = httpClient(new Timers(fakeClock()))
  afterEach(() => servers.splice(0).forEach(server => server.close()))

  /** The API on one port and its files on another. Both are loopback addresses, and different hosts. */
  async function finishedClip(behavior: 'accept' | 'file_redirect_to_file') {
    const clock = fakeClock()
    const files = simulatedServer(request => simulator.handle(request), clock)
    const api = simulatedServer(request => simulator.handle(request), clock)
    servers.push(files, api)
    const simulator = new MediaSimulator(veoDialect, {
      clock,
      key: KEY,
      jobMs: JOB_MS,
      url: () => api.url,
      filesUrl: () => `${files.url}/files`,
    })
    const provider = veo({
      secretOf: literalSecret,
      send: simulatedSend(request => simulator.handle(request), clock),
    })
    simulator.scriptSubmits(behavior)
    const call = aSubmitCall(mediaProviderRow('veo', `${api.url}/v1beta`, KEY), {
      kind: 'video',
      durationMs: 8000,
    })
    const submitted = await provider.submit(call)
    if (submitted.outcome !== 'accepted') throw new Error('The submission was not accepted.')
    clock.advance(JOB_MS)
    const polled = await provider.poll(accepted(call, submitted.upstreamId))
    const [output] = polled.outcome === 'finished' ? polled.result.outputs : []
    if (output?.from !== 'url') throw new Error('There is no link.')
    return { output, api, files }
  }

  async function download({ url, authorization }: { url: string; authorization?: object }) {
    const fetch = untrustedFetch({
      http,
      clock: fakeClock(),
      version: '1',
      allowsPrivate: true,
      resolve: async () => [],
    })
    const fetched = await fetch(url, {
      bytesMax: 1e6,
      timeoutMs: 60_000,
      ...(authorization === undefined ? {} : { authorization: authorization as never }),
    })
    return fetched.outcome === 'opened' ? (await bytesOf(fetched.body)).length : 0
  }

  test('the key of a download is sent to the API', async () => {
    const { output, api } = await finishedClip('accept')

    expect(await download(output)).toBeGreaterThan(0)
    expect(api.requests.map(({ path }) => path)).toEqual(['/v1beta/files/0-0:download?alt=media'])
    expect(api.requests[0]?.headers['x-goog-api-key']).toBe(KEY)
  })

  test('the key of a download is not sent on to another host that the API redirects to', async () => {
    const { output, api, files } = await finishedClip('file_redirect_to_file')

    expect(await download(output)).toBeGreaterThan(0)
    expect(api.requests[0]?.headers['x-goog-api-key']).toBe(KEY)
    expect(files.requests.length).toBe(1)
    expect(JSON.stringify(files.requests[0]?.headers)).not.toContain(KEY)
  })

  test('the key of a download is needed by the API', async () => {
    const { output } = await finishedClip('accept')

    expect(await download({ url: output.url })).toBe(0)
  })
})
