import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { MediaInput, SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { createOf } from './create.ts'

const link = (name: string) => ({ from: 'url', url: `https://example.com/${name}` }) as const
const [one, two] = [link('1'), link('2')]
const row = mediaProviderRow('runway', 'https://api.dev.runwayml.com')

async function created(change: Partial<SubmitCall>) {
  const create = createOf(aSubmitCall(row, { kind: 'video', model: 'gen4.5', prompt: 'A bay', ...change }))
  if ('refusal' in create.body) throw new Error(create.body.refusal)
  const text = (await bytesOf(joinedBody(create.body).stream)).toString()
  return { path: create.path, body: JSON.parse(text) as Record<string, unknown> }
}

describe('the create of a task', () => {
  test.each<[string, Partial<SubmitCall>, string, object]>([
    ['an image', { kind: 'image', model: 'gen4_image' }, 'text_to_image', {}],
    [
      'an image from images',
      { kind: 'image', model: 'gen4_image', images: [one, two] },
      'text_to_image',
      { referenceImages: [{ uri: one.url }, { uri: two.url }] },
    ],
    ['a video', {}, 'text_to_video', {}],
    ['a video from an image', { images: [one] }, 'image_to_video', { promptImage: one.url }],
    [
      'a video from two frames',
      { images: [one, two] },
      'image_to_video',
      {
        promptImage: [
          { uri: one.url, position: 'first' },
          { uri: two.url, position: 'last' },
        ],
      },
    ],
    ['a video from a video', { videos: [one] }, 'video_to_video', { promptVideo: one.url }],
    [
      'a video from videos and an image',
      { videos: [one, two], images: [link('3')] },
      'video_to_video',
      {
        promptVideo: one.url,
        referenceVideos: [{ type: 'video', uri: two.url }],
        references: [{ uri: 'https://example.com/3' }],
      },
    ],
    [
      'a video from a video with Aleph',
      { model: 'gen4_aleph', videos: [one], images: [two] },
      'video_to_video',
      { videoUri: one.url, references: [{ type: 'image', uri: two.url }] },
    ],
  ])('the create of a task of %s has a route and its inputs', async (_, change, route, inputs) => {
    const { model = 'gen4.5' } = change

    expect(await created(change)).toEqual({
      path: `/v1/${route}`,
      body: { model, promptText: 'A bay', ...inputs },
    })
  })

  test('the create of a task has the duration as a number of seconds', async () => {
    expect((await created({ durationMs: 4500 })).body).toMatchObject({ duration: 4.5 })
  })

  test('the create of a task has the parameters of the row', async () => {
    expect((await created({ params: { seed: 7, audio: false } })).body).toMatchObject({
      seed: 7,
      audio: false,
    })
  })

  test.each([
    'model',
    'promptText',
    'promptImage',
    'promptVideo',
    'videoUri',
    'referenceImages',
    'references',
    'duration',
    'outputCount',
  ])('the create of a task never has %s from the parameters', async name => {
    expect(Object.values((await created({ params: { [name]: 'x' } })).body)).not.toContain('x')
  })

  test.each([
    ['video', { aspect_ratio: '16:9' }, '1280:720'],
    ['video', { aspect_ratio: '9:16', resolution: '1080p' }, '1080:1920'],
    ['video', { aspect_ratio: '9:16', resolution: '720p' }, '720:1280'],
    ['video', { aspect_ratio: '5:7' }, '5:7'],
    ['video', { ratio: '960:960', aspect_ratio: '16:9' }, '960:960'],
    ['image', { aspect_ratio: '16:9' }, '1920:1080'],
    ['image', { orientation: 'portrait' }, '1080:1920'],
    ['image', { orientation: 'square' }, '1024:1024'],
    ['image', { resolution: '2K' }, undefined],
    ['video', {}, undefined],
  ] as const)('the create of a task of one %s with %j has the ratio %j', async (kind, params, ratio) => {
    const { body } = await created({ kind, params })

    expect(body['ratio']).toBe(ratio as never)
    for (const name of ['aspect_ratio', 'resolution', 'orientation']) expect(body).not.toHaveProperty(name)
  })

  test('the create of a task is refused for scenes', () => {
    expect(createOf(aSubmitCall(row, { kind: 'video', scenes: ['one'] })).body).toMatchObject({
      refusal: expect.any(String),
    })
  })

  test('the create of a task of a clip from three images is refused, because the API has no frame between two', () => {
    const images = [one, two, link('3')]

    expect(createOf(aSubmitCall(row, { kind: 'video', images })).body).toEqual({
      refusal: 'The provider accepts at most two images: the first and the last frame.',
    })
    expect(createOf(aSubmitCall(row, { kind: 'image', images })).body).not.toHaveProperty('refusal')
  })

  test('the create of a task has bytes as data URLs', async () => {
    const { body } = await created({ images: [bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')] })

    expect(body).toMatchObject({ promptImage: 'data:image/webp;base64,AQID' })
  })

  test('the create of a task has provider ids as they are', async () => {
    const { body } = await created({ images: [{ from: 'provider_id', id: 'runway://upload/7' }] })

    expect(body).toMatchObject({ promptImage: 'runway://upload/7' })
  })

  test.each([
    [3_932_142, true],
    [3_932_145, false],
  ])('the create of a task with an input of %d bytes is possible: %p', (bytes, isPossible) => {
    const input: MediaInput = { ...bytesInput(new Uint8Array(0)), bytes }

    const { body } = createOf(aSubmitCall(row, { kind: 'video', images: [input] }))

    expect('refusal' in body).toBe(!isPossible)
  })
})
