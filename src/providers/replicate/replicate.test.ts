import { describe, expect, test } from 'bun:test'
import { JOB_MS, openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import { replicateDialect } from '../../../test/support/simulators/media/replicate.ts'
import { replicate } from './replicate.ts'

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
  test('creates a job once, and polls it by its id', async () => {
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

  test('creates a job of a deployment', async () => {
    const { simulator, submitted, aCall } = open()

    await submitted(aCall({ model: 'deployments/acme/fast' }))

    expect(simulator.asked).toMatchObject([{ extra: { model: 'acme/fast' } }])
  })

  test('does not follow the links of a prediction', async () => {
    const { sent, provider, submitted } = open()

    await provider.poll(await submitted())

    expect(sent.map(({ url }) => url.origin)).toEqual(Array(2).fill('https://api.example.com'))
  })
})
