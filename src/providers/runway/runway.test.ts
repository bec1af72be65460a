import { describe, expect, test } from 'bun:test'
import { bytesInput } from '../../../test/support/media-calls.ts'
import { JOB_MS, openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import { runwayDialect } from '../../../test/support/simulators/media/runway.ts'
import { runway } from './runway.ts'

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
  test('creates a job once, and polls it by its id', async () => {
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

  test('names the version of the API, or the one of the row', async () => {
    const { sent, provider, row, aCall } = open()

    await provider.submit(aCall())
    await provider.submit(aCall({ provider: { ...row, headers: { 'x-runway-version': '2027-01-01' } } }))

    expect(sent.map(({ headers }) => headers.get('x-runway-version'))).toEqual(['2024-11-06', '2027-01-01'])
  })

  test('refuses an input that no data URL can have, and sends nothing', async () => {
    const { sent, provider, aCall } = open()
    const image = { ...bytesInput(new Uint8Array(0)), bytes: 4_000_000 }

    expect(await provider.submit(aCall({ images: [image] }))).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid',
    })
    expect(sent).toEqual([])
  })

  test("reports an empty account as the operator's trouble, although its status is 400", async () => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits('out_of_credit')

    expect(await provider.submit(aCall())).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
      status: 400,
    })
  })
})
