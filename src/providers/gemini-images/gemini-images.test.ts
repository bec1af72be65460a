import { describe, expect, test } from 'bun:test'
import { accepted } from '../../../test/support/media-calls.ts'
import { geminiImagesDialect } from '../../../test/support/simulators/media/gemini-images.ts'
import { openAdapter } from '../../../test/support/simulators/media/open-adapter.ts'
import { geminiImages } from './gemini-images.ts'

const open = () =>
  openAdapter({
    kind: 'gemini-images',
    dialect: geminiImagesDialect,
    provider: geminiImages,
    baseUrl: 'https://api.example.com/v1beta',
    makes: 'image',
    model: 'gemini-2.5-flash-image',
  })

describe('gemini-images', () => {
  test.each(['gemini-2.5-flash-image', 'models/gemini-2.5-flash-image'])(
    'gemini-images makes an image of %s within the submission',
    async model => {
      const { simulator, sent, provider, aCall } = open()

      const outcome = await provider.submit(aCall({ model, prompt: 'Ein Türmchen' }))

      expect(outcome).toMatchObject({ outcome: 'finished', result: { outputs: [{ from: 'bytes' }] } })
      expect(sent.map(({ method, url }) => `${method} ${url.href}`)).toEqual([
        'POST https://api.example.com/v1beta/models/gemini-2.5-flash-image:generateContent',
      ])
      expect(sent[0]?.headers.get('x-goog-api-key')).toBe('key-1')
      expect(simulator.ledger()).toMatchObject([{ prompt: 'Ein Türmchen', state: 'finished', creates: 1 }])
    },
  )

  test.each([
    ['fails', 'PROHIBITED_CONTENT'],
    ['is_filtered', 'IMAGE_SAFETY'],
    ['no_outputs', 'NO_IMAGE'],
  ] as const)('gemini-images rejects a job that %s, with the code %s', async (behavior, code) => {
    const { simulator, provider, aCall } = open()
    simulator.scriptSubmits(behavior)

    expect(await provider.submit(aCall())).toMatchObject({ outcome: 'rejected', reason: 'invalid', code })
  })

  test('gemini-images sends nothing for a video', async () => {
    const { sent, provider, aCall } = open()

    expect(await provider.submit(aCall({ kind: 'video' }))).toMatchObject({ reason: 'operator' })
    expect(sent).toEqual([])
  })

  test('gemini-images has no jobs to poll', async () => {
    const { sent, provider, aCall } = open()

    expect((await provider.poll(accepted(aCall(), '7'))).outcome).toBe('unavailable')
    expect(sent).toEqual([])
  })
})
