import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { submitBody } from './submit-body.ts'

const row = mediaProviderRow('veo', 'http://127.0.0.1')
const [first, last, third] = [1, 2, 3].map(byte => bytesInput(new Uint8Array([byte])))

async function bodyOf(change: Partial<SubmitCall> = {}): Promise<unknown> {
  const body = submitBody(aSubmitCall(row, { kind: 'video', ...change }))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString())
}

describe('a submit', () => {
  test('has the prompt, the duration as a number, and the parameters in camel case', async () => {
    const params = {
      aspect_ratio: '9:16',
      resolution: '720p',
      negative_prompt: 'fog',
      personGeneration: 'allow_adult',
    }

    expect(await bodyOf({ durationMs: 8000, params })).toEqual({
      instances: [{ prompt: 'A lighthouse at dawn' }],
      parameters: {
        aspectRatio: '9:16',
        resolution: '720p',
        negativePrompt: 'fog',
        personGeneration: 'allow_adult',
        sampleCount: 1,
        durationSeconds: 8,
      },
    })
  })

  test('asks for one clip, however many the client asked for', async () => {
    expect(await bodyOf({ count: 4, params: { sample_count: 4 } })).toMatchObject({
      parameters: { sampleCount: 1 },
    })
  })

  test('has one image as the first frame, and two as the first and the last', async () => {
    const { instances } = (await bodyOf({ images: [first!, last!] })) as { instances: object[] }

    expect(await bodyOf({ images: [first!] })).toMatchObject({
      instances: [{ image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' } }],
    })
    expect(instances).toEqual([
      {
        prompt: 'A lighthouse at dawn',
        image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' },
        lastFrame: { bytesBase64Encoded: 'Ag==', mimeType: 'image/png' },
      },
    ])
  })

  test.each([
    [[first!, last!, third!], {}, 3],
    [[first!], { image_role: 'reference' }, 1],
  ])('has more images, or all with the role, as references', async (images, params, count) => {
    const { instances, parameters } = (await bodyOf({ images, params })) as {
      instances: { referenceImages: object[]; image?: object }[]
      parameters: object
    }

    expect(instances[0]?.referenceImages.length).toBe(count)
    expect(instances[0]?.referenceImages[0]).toEqual({
      image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' },
      referenceType: 'asset',
    })
    expect(instances[0]).not.toHaveProperty('image')
    expect(parameters).not.toHaveProperty('imageRole')
  })

  test.each([
    [bytesInput(new Uint8Array([1]), 'video/mp4'), { encodedVideo: 'AQ==', encoding: 'video/mp4' }],
    [{ from: 'url', url: 'https://example.com/a' } as const, { uri: 'https://example.com/a' }],
    [{ from: 'provider_id', id: 'files/a' } as const, { uri: 'files/a' }],
  ])('has a video to continue', async (input, video) => {
    expect(await bodyOf({ videos: [input] })).toMatchObject({ instances: [{ video }] })
  })

  test.each<[string, Partial<SubmitCall>]>([
    ['an image that is a link', { images: [{ from: 'url', url: 'https://example.com/a.png' }] }],
    ['an image that is an id', { images: [{ from: 'provider_id', id: 'files/a' }] }],
    ['two videos', { videos: [first!, last!] }],
    ['the id of an earlier job', { refUpstreamId: 'models/veo/operations/1' }],
    ['scenes', { scenes: ['one'] }],
  ])('with %s is refused', (_, change) => {
    expect(submitBody(aSubmitCall(row, { kind: 'video', ...change }))).toEqual({
      refusal: expect.any(String),
    })
  })
})
