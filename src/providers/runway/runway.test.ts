import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { bytesInput } from '../../../test/support/media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { JOB_MS, openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import { runwayDialect } from '../../../test/support/simulators/media/runway.ts'
import {
  htmlReply,
  jsonReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { runway, probeRunway } from './runway.ts'

const open = () =>
  openAdapter({
    kind: 'runway',
    dialect: runwayDialect,
    provider: runway,
    baseUrl: 'https://api.example.com',
    makes: 'video',
    model: 'gen4.5',
  })

describe('runway', () => {
  test('runway creates a job once, and polls it by its id', async () => {
    const { clock, simulator, sent, provider, submitted, aCall } = open()
    const job = await submitted(aCall({ prompt: 'Ein Türmchen' }))
    clock.advance(JOB_MS)

    expect((await provider.poll(job)).outcome).toBe('finished')
    expect(simulator.ledger()).toMatchObject([{ prompt: 'Ein Türmchen', durationMs: 5000, creates: 1 }])
    expect(sent.map(({ method, url }) => `${method} ${url.href}`)).toEqual([
      'POST https://api.example.com/v1/text_to_video',
      'GET https://api.example.com/v1/tasks/17f20503-6c24-4c16-946b-000000000000',
    ])
  })

  test('runway names the version of the API, or the one of the row', async () => {
    const { sent, provider, row, aCall } = open()

    await provider.submit(aCall())
    await provider.submit(aCall({ provider: { ...row, headers: { 'x-runway-version': '2027-01-01' } } }))

    expect(sent.map(({ headers }) => headers.get('x-runway-version'))).toEqual(['2024-11-06', '2027-01-01'])
  })

  test('runway refuses an input that no data URL can have, and sends nothing', async () => {
    const { sent, provider, aCall } = open()
    const image = { ...bytesInput(new Uint8Array(0)), bytes: 4_000_000 }

    expect(await provider.submit(aCall({ images: [image] }))).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid',
    })
    expect(sent).toEqual([])
  })

  test("runway reports an empty account as the operator's trouble, although its status is 400", async () => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits('out_of_credit')

    expect(await provider.submit(aCall())).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
      status: 400,
    })
  })
})

describe('the probe of runway', () => {
  const clock = fakeClock()
  const row = mediaProviderRow('runway', 'https://api.example.com', 'key-1')

  test.each([
    ['key-1', true, 'Responds (status 200).'],
    ['wrong', false, 'Refuses its key or its account (status 401).'],
  ])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
    const simulator = new MediaSimulator(runwayDialect, { clock, key: 'key-1' })
    const send = simulatedSend(request => simulator.handle(request), clock)
    const probed = { ...row, secret: { from: 'literal', value: key } } as const

    expect(await probeRunway(probed, { send, secretOf: literalSecret })).toEqual({ ok, detail })
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

    expect(await probeRunway(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  })
})
