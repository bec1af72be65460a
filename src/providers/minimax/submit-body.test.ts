import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { submitBody, versionOf } from './submit-body.ts'

const row = mediaProviderRow('minimax', 'http://127.0.0.1')
const bytes = bytesInput(new Uint8Array([1, 2, 3]))
const DATA_URL = 'data:image/png;base64,AQID'
const link = { from: 'url', url: 'https://example.com/a.png' } as const
const id = { from: 'provider_id', id: 'file-123' } as const

const aCall = (change: Partial<SubmitCall>) =>
  aSubmitCall(row, { kind: 'video', model: 'MiniMax-Hailuo-2.3', ...change })

async function bodyOf(change: Partial<SubmitCall>): Promise<unknown> {
  const body = submitBody(aCall(change))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString())
}

test.each([
  ['MiniMax-H3', 'v2'],
  ['MiniMax-H3-Turbo', 'v2'],
  ['MiniMax-Hailuo-02', 'v1'],
  ['T2V-01', 'v1'],
  ['S2V-01', 'v1'],
])('the model %s is made by %s', (model, version) => {
  expect(versionOf(model)).toBe(version as 'v1')
})

describe('a submission of v1', () => {
  test('a submission of v1 has the model, the prompt, the parameters and the duration as a number', async () => {
    const params = { resolution: '768P', prompt_optimizer: false, callback_url: 'x', task_id: 'y' }

    expect(await bodyOf({ params, durationMs: 6000, count: 4 })).toEqual({
      model: 'MiniMax-Hailuo-2.3',
      prompt: 'A lighthouse at dawn',
      resolution: '768P',
      prompt_optimizer: false,
      task_id: 'y',
      duration: 6,
    })
  })

  test('a submission of v1 has the first and the last frame as a data URL, a link or an id', async () => {
    expect(await bodyOf({ images: [bytes, link] })).toMatchObject({
      first_frame_image: DATA_URL,
      last_frame_image: link.url,
    })
    expect(await bodyOf({ images: [id] })).toMatchObject({ first_frame_image: 'file-123' })
  })

  test.each([
    [[bytes, link, id], {}, [DATA_URL, link.url, 'file-123']],
    [[link], { image_role: 'reference' }, [link.url]],
  ])(
    'a submission of v1 has more images, or all with the role, as references of one character',
    async (images, params, image) => {
      const body = await bodyOf({ images, params })

      expect(body).toMatchObject({ subject_reference: [{ type: 'character', image }] })
      expect(body).not.toHaveProperty('first_frame_image')
      expect(body).not.toHaveProperty('image_role')
    },
  )

  test.each<[string, Partial<SubmitCall>]>([
    ['a video', { videos: [link] }],
    ['scenes', { scenes: 'one' }],
  ])('a submission of v1 with %s is refused', (_, change) => {
    expect(submitBody(aCall(change))).toEqual({ refusal: expect.any(String) })
  })
})

describe('a submission of v2', () => {
  const model = 'MiniMax-H3'

  test('a submission of v2 has the prompt in the list of contents, and the aspect ratio under its own name', async () => {
    expect(
      await bodyOf({ model, durationMs: 5000, params: { aspect_ratio: '16:9', resolution: '2K' } }),
    ).toEqual({
      model,
      content: [{ type: 'text', text: 'A lighthouse at dawn' }],
      ratio: '16:9',
      resolution: '2K',
      duration: 5,
    })
  })

  test('a submission of v2 has each input with its role', async () => {
    const params = { billed_inputs: 'included' }
    const frames = await bodyOf({ model, images: [bytes, link], videos: [id], params })
    const references = await bodyOf({ model, images: [bytes], params: { image_role: 'reference' } })

    expect(frames).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image_url', image_url: { url: DATA_URL }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: link.url }, role: 'last_frame' },
        { type: 'video_url', video_url: { url: 'file-123' }, role: 'reference_video' },
      ],
    })
    expect(frames).not.toHaveProperty('billed_inputs')
    expect(references).toMatchObject({ content: [{}, { role: 'reference_image' }] })
  })

  test('a submission of v2 with billed inputs is refused, unless the price of the row covers them', () => {
    const six = Array.from({ length: 6 }, () => link)
    const included = { params: { billed_inputs: 'included' } }

    expect(submitBody(aCall({ model, videos: [id] }))).toEqual({
      refusal: 'The model does not accept reference videos.',
    })
    expect(submitBody(aCall({ model, images: six }))).toEqual({
      refusal: 'The model accepts at most 5 images.',
    })
    expect(submitBody(aCall({ model, images: six.slice(1) }))).not.toHaveProperty('refusal')
    expect(submitBody(aCall({ model, images: six, videos: [id], ...included }))).not.toHaveProperty('refusal')
  })
})
