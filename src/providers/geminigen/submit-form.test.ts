import { describe, expect, test } from 'bun:test'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { changesClip, submitForm } from './submit-form.ts'

const row = mediaProviderRow('geminigen', 'http://127.0.0.1')
const png = bytesInput(new Uint8Array([1, 2, 3]))
const link = { from: 'url', url: 'https://example.com/a.png' } as const

const aCall = (change: Partial<SubmitCall>) =>
  aSubmitCall(row, { kind: 'video', model: 'veo-3.1-fast', ...change })

/** The path, and each field with its text or the name of its file. */
function formOf(change: Partial<SubmitCall>) {
  const form = submitForm(aCall(change))
  if (!('path' in form)) throw new Error(JSON.stringify(form))
  const fields = form.fields.map(field => [field.name, 'text' in field ? field.text : field.fileName])
  return { path: form.path, fields }
}

describe('an image', () => {
  test('an image has the prompt, the model and the parameters, and never the number of images', () => {
    const params = { aspect_ratio: '16:9', resolution: '2K', number_of_images: 4 }

    expect(formOf({ kind: 'image', model: 'nano-banana-pro', params, count: 4 })).toEqual({
      path: '/generate_image',
      fields: [
        ['prompt', 'A lighthouse at dawn'],
        ['model', 'nano-banana-pro'],
        ['aspect_ratio', '16:9'],
        ['resolution', '2K'],
      ],
    })
  })

  test.each([
    ['imagen-4', '/generate_image', 'imagen-4'],
    ['gpt-image-2', '/imagen/gpt-image-2', 'gpt-image-2'],
    ['imagen/gpt-image-2', '/imagen/gpt-image-2', 'gpt-image-2'],
    ['imagen/grok', '/imagen/grok', 'grok'],
    ['grok-image', '/imagen/grok', 'grok-image'],
  ])('an image of the model %s goes to %s', (model, path, named) => {
    const form = formOf({ kind: 'image', model })

    expect(form.path).toBe(path)
    expect(form.fields).toContainEqual(['model', named])
  })

  test('an image has its references as files and as links', () => {
    expect(formOf({ kind: 'image', model: 'imagen-4', images: [png, link] }).fields).toEqual([
      ['prompt', 'A lighthouse at dawn'],
      ['model', 'imagen-4'],
      ['files', 'input-0.png'],
      ['file_urls', link.url],
    ])
  })
})

describe('a video', () => {
  test.each([
    ['veo-3.1-fast', '/video-gen/veo', 'veo-3.1-fast'],
    ['veo/veo-3.1', '/video-gen/veo', 'veo-3.1'],
    ['sora-2', '/video-gen/sora', 'sora-2'],
    ['grok-3', '/video-gen/grok', 'grok-3'],
    ['seedance-2', '/video-gen/seedance', 'seedance-2'],
    ['kling', '/video-gen/kling', 'kling'],
    ['meta/v1', '/video-gen/meta', 'v1'],
  ])('a video of the model %s goes to %s', (model, path, named) => {
    const form = formOf({ model, durationMs: 6500 })

    expect(form.path).toBe(path)
    expect(form.fields).toEqual([
      ['prompt', 'A lighthouse at dawn'],
      ['model', named],
      ['duration', '6.5'],
    ])
  })

  test('a video of a model without a family cannot be sent', () => {
    expect(submitForm(aCall({ model: 'veogram' }))).toEqual({
      problem: 'the model "veogram" belongs to no family of the API',
    })
  })

  test.each([
    [
      [png, link],
      {},
      [
        ['mode_image', 'frame'],
        ['ref_images', 'input-0.png'],
        ['ref_images', link.url],
      ],
    ],
    [[png], { image_role: 'reference' }, [['ref_images', 'input-0.png']]],
  ])('a video of veo has its images as frames or as references', (images, params, fields) => {
    expect(formOf({ images, params }).fields.slice(2)).toEqual(fields)
  })

  test.each([
    [
      'seedance-2',
      [
        ['ref_images', 'input-0.png'],
        ['ref_images', link.url],
      ],
    ],
    [
      'kling',
      [
        ['ref_images', 'input-0.png'],
        ['ref_images', link.url],
      ],
    ],
    [
      'sora-2',
      [
        ['files', 'input-0.png'],
        ['file_urls', link.url],
      ],
    ],
  ])('a video of %s has its images in its own fields', (model, fields) => {
    expect(formOf({ model, images: [png, link] }).fields.slice(2)).toEqual(fields)
  })

  test.each([
    ['16:9', ['orientation', 'landscape']],
    ['9:16', ['orientation', 'portrait']],
    ['4:3', ['aspect_ratio', '4:3']],
  ])('a video of meta has the aspect ratio %s as %j', (ratio, field) => {
    expect(formOf({ model: 'meta', params: { aspect_ratio: ratio } }).fields.slice(2)).toEqual([field])
    expect(formOf({ params: { aspect_ratio: ratio } }).fields.slice(2)).toEqual([['aspect_ratio', ratio]])
  })

  test('a video that continues an earlier job names it', () => {
    const form = formOf({ refUpstreamId: 'c558a44c' })

    expect(form.path).toBe('/video-extend/veo')
    expect(form.fields).toContainEqual(['ref_history', 'c558a44c'])
  })

  test.each([
    ['one; two', 'one; two'],
    [['one', { seconds: 1.5 }], '["one",{"seconds":1.5}]'],
  ])('a video of the scenes %j has them as they came', (scenes, text) => {
    expect(formOf({ scenes }).fields).toContainEqual(['scenes', text])
  })

  test.each(['kling-video-o1-edit', 'kling/kling-video-motion-3', 'seedance-2-omni'])(
    'a video of %s has its videos as files and as links',
    model => {
      const mp4 = bytesInput(new Uint8Array([1, 2, 3]), 'video/mp4')

      const { fields } = formOf({ model, images: [png], videos: [mp4, link] })

      expect(fields.slice(2)).toEqual([
        ['ref_images', 'input-0.png'],
        ['ref_videos', 'input-0.mp4'],
        ['ref_videos', link.url],
      ])
    },
  )

  test.each([
    ['kling-video-o1-edit', true],
    ['kling/kling-video-motion-3', true],
    ['kling-video-lipsync', true],
    ['kling-video-3-0', false],
    ['veo-3.1', false],
    ['seedance-2-omni', false],
  ])('%s changes a clip instead of continuing it: %j', (model, isChanged) => {
    expect(changesClip(model)).toBe(isChanged)
  })

  test.each<[string, Partial<SubmitCall>]>([
    ['an earlier job of a family that cannot go on', { model: 'sora-2', refUpstreamId: 'c558a44c' }],
    ['a video of a family that takes none', { videos: [link] }],
    ['a video and an earlier job', { model: 'kling-video-3-0', videos: [link], refUpstreamId: 'c558a44c' }],
  ])('a video with %s is refused', (_, change) => {
    expect(submitForm(aCall(change))).toEqual({ refusal: expect.any(String) })
  })
})
