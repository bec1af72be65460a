import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { JOB_MS, openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import { replicateDialect } from '../../../test/support/simulators/media/replicate.ts'
import {
  htmlReply,
  jsonReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { replicate, probeReplicate } from './replicate.ts'

const open = () =>
  openAdapter({
    kind: 'replicate',
    dialect: replicateDialect,
    provider: replicate,
    baseUrl: 'https://api.example.com/v1',
    makes: 'video',
    model: 'kwaivgi/kling-v2.1',
  })

describe('replicate', () => {
  test('replicate creates a job once, and polls it by its id', async () => {
    const { clock, simulator, sent, provider, submitted, aCall } = open()
    const job = await submitted(aCall({ prompt: 'Ein Türmchen' }))
    clock.advance(JOB_MS)

    expect((await provider.poll(job)).outcome).toBe('finished')
    expect(simulator.ledger()).toMatchObject([{ prompt: 'Ein Türmchen', durationMs: 5000, creates: 1 }])
    expect(sent.map(({ method, url }) => `${method} ${url.href}`)).toEqual([
      'POST https://api.example.com/v1/predictions',
      'GET https://api.example.com/v1/predictions/gm3qorzdhgbfurvjtvhg6d0000',
    ])
  })

  test('replicate creates a job of a deployment', async () => {
    const { simulator, submitted, aCall } = open()

    await submitted(aCall({ model: 'deployments/acme/fast' }))

    expect(simulator.asked).toMatchObject([{ extra: { model: 'acme/fast' } }])
  })

  test('replicate does not follow the links of a prediction', async () => {
    const { sent, provider, submitted } = open()

    await provider.poll(await submitted())

    expect(sent.map(({ url }) => url.origin)).toEqual(Array(2).fill('https://api.example.com'))
  })
})

describe('the probe of replicate', () => {
  const clock = fakeClock()
  const row = mediaProviderRow('replicate', 'https://api.example.com/v1', 'key-1')

  test.each([
    ['key-1', true, 'Responds (status 200).'],
    ['wrong', false, 'Refuses its key or its account (status 401).'],
  ])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
    const simulator = new MediaSimulator(replicateDialect, { clock, key: 'key-1' })
    const send = simulatedSend(request => simulator.handle(request), clock)
    const probed = { ...row, secret: { from: 'literal', value: key } } as const

    expect(await probeReplicate(probed, { send, secretOf: literalSecret })).toEqual({ ok, detail })
    expect(simulator.creates).toBe(0)
  })

  test.each<[SimulatedReply, boolean, string]>([
    [jsonReply({ error: 'No.' }, 403), false, 'Refuses its key or its account (status 403).'],
    [jsonReply({ error: 'Too many requests' }, 429), true, 'Responds (status 429).'],
    [htmlReply(404), false, 'Responds, but not like an API of this kind (status 404).'],
    [htmlReply(502), false, 'Responds with status 502.'],
    [{ send: 'reset' }, false, 'Does not respond (ECONNRESET).'],
  ])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
    const send = simulatedSend(() => reply, clock)

    expect(await probeReplicate(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })
})
