import { describe, expect, test } from 'bun:test'
import type { MediaModel } from '../../domain/catalog/model.ts'
import { fieldsWithSize } from './sizes.ts'

type Choices = Parameters<typeof fieldsWithSize>[1]

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9']
const image: Choices = {
  kind: 'image',
  params: { aspect_ratio: ratios, resolution: ['1K', '2K', '4K'] },
  fixedParams: {},
}
const of = (params: MediaModel['params'], fixedParams: Choices['fixedParams'] = {}): Choices => ({
  kind: 'image',
  params,
  fixedParams,
})
const clip = (params: MediaModel['params'], fixedParams: Choices['fixedParams'] = {}): Choices => ({
  ...of(params, fixedParams),
  kind: 'video',
})

function refusal(size: unknown, model: Choices, others: object = {}): string {
  try {
    return JSON.stringify(fieldsWithSize({ ...others, size }, model))
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  ['1024x1024', '1:1', '1K'],
  ['1536x1024', '3:2', '1K'],
  ['1024x1536', '2:3', '1K'],
  ['1792x1024', '16:9', '1K'],
  ['1024x1792', '9:16', '1K'],
  ['1024x768', '4:3', '1K'],
  ['2048x2048', '1:1', '2K'],
  ['1920x1080', '16:9', '2K'],
  ['3840x2160', '16:9', '4K'],
])('the size %s is the aspect ratio %s and the resolution %s', (size, ratio, resolution) => {
  expect(fieldsWithSize({ prompt: 'A', size }, image)).toEqual({
    prompt: 'A',
    aspect_ratio: ratio,
    resolution,
  })
})

test.each([[undefined], [null]])('the size %p changes no field', size => {
  expect(fieldsWithSize({ prompt: 'A', size }, image)).toEqual({ prompt: 'A', size })
})

test('the size `auto` is the default of the model, unless the model has it as a size of its own', () => {
  expect(fieldsWithSize({ prompt: 'A', size: 'auto' }, image)).toEqual({ prompt: 'A' })
  expect(fieldsWithSize({ size: 'auto' }, of({ size: ['1024x1024'] }))).toEqual({})
  expect(fieldsWithSize({ size: 'auto' }, of({ size: ['1024x1024', 'auto'] }))).toEqual({ size: 'auto' })
})

test('a model with sizes of its own gets one of them as it came, and refuses any other', () => {
  const model = of({ size: ['1024x1024', '512x512'], aspect_ratio: ['1:1'] })

  expect(fieldsWithSize({ size: '512x512' }, model)).toEqual({ size: '512x512' })
  expect(refusal('2048x2048', model)).toContain('It makes these sizes: 1024x1024, 512x512.')
})

test('a model with a fixed size takes this size only, and is not asked for it again', () => {
  const model = of({ aspect_ratio: ['1:1', '3:2'] }, { size: '1024x1024' })

  expect(fieldsWithSize({ size: '1024x1024' }, model)).toEqual({})
  expect(refusal('1536x1024', model)).toContain('It makes these sizes: 1024x1024.')
})

test('a model with orientations gets the orientation of the size', () => {
  const model = of({ orientation: ['square', 'landscape', 'portrait'] })

  expect(fieldsWithSize({ size: '1792x1024' }, model)).toEqual({ orientation: 'landscape' })
  expect(fieldsWithSize({ size: '1024x1536' }, model)).toEqual({ orientation: 'portrait' })
  expect(fieldsWithSize({ size: '1024x1024' }, model)).toEqual({ orientation: 'square' })
})

test('a fixed parameter is not asked for again', () => {
  const model = of({ aspect_ratio: ['1:1', '16:9'] }, { resolution: '2K' })

  expect(fieldsWithSize({ size: '2048x2048' }, model)).toEqual({ aspect_ratio: '1:1' })
  expect(refusal('1024x1024', model)).toContain('It makes these sizes: 2048x2048, 3584x2048.')
})

describe('a size that a model does not make is refused with the sizes that it makes:', () => {
  test.each<[unknown, Choices, string]>([
    ['512x512', of({ aspect_ratio: ['1:1', '3:2'] }), '1024x1024, 1536x1024.'],
    ['1536x1024', of({ aspect_ratio: ['1:1'] }), '1024x1024.'],
    ['2048x2048', of({ aspect_ratio: ['1:1'] }), '1024x1024.'],
    ['1024x512', of({ aspect_ratio: ['1:1', '4:3'], resolution: ['1K', '2K'] }), '1024x1024, 1184x880'],
    ['large', of({ aspect_ratio: ['1:1'] }), '1024x1024.'],
    ['0x1024', of({ aspect_ratio: ['1:1'] }), '1024x1024.'],
    [1024, of({ aspect_ratio: ['1:1'] }), '1024x1024.'],
    ['1280x1280', clip({ aspect_ratio: ['16:9', '9:16'] }), '1280x720, 720x1280.'],
    ['1920x1080', clip({ aspect_ratio: ['16:9'], resolution: ['480p', '720p'] }), '854x480, 1280x720.'],
  ])(
    'a size that a model does not make is refused with the sizes that it makes: %p',
    (size, model, sizes) => {
      expect(refusal(size, model)).toContain(`It makes these sizes: ${sizes}`)
    },
  )
})

test('every size that a refusal names is one that the model makes', () => {
  const [, sizes = ''] = /these sizes: (.*)\.$/.exec(refusal('512x512', image)) ?? []

  const listed = sizes.split(', ')

  expect(listed).toHaveLength(ratios.length * 3)
  for (const size of listed) expect(fieldsWithSize({ size }, image)).toHaveProperty('resolution')
})

test('a model without shapes refuses every size', () => {
  expect(refusal('1024x1024', of({ image_size: ['square_hd'] }))).toContain('Leave out "size"')
})

test('a size next to an aspect ratio is refused, because they could differ', () => {
  expect(refusal('1024x1024', image, { aspect_ratio: '16:9' })).toContain('cannot be combined')
})

test.each([
  ['720x1280', clip({ aspect_ratio: ['16:9', '9:16'] }), { aspect_ratio: '9:16' }],
  ['1792x1024', clip({ aspect_ratio: ['16:9'] }), { aspect_ratio: '16:9' }],
  [
    '1792x1024',
    clip({ aspect_ratio: ['16:9'], resolution: ['720p', '1080p'] }),
    { aspect_ratio: '16:9', resolution: '1080p' },
  ],
])(
  'the size %s of a clip is its shape, and its resolution if the model has several',
  (size, model, fields) => {
    expect(fieldsWithSize({ size }, model)).toEqual(fields)
  },
)
