import { describe, expect, test } from 'bun:test'
import type { MediaModel } from '../../domain/catalog/model.ts'
import { fieldsWithSize, type SizeOf } from './sizes.ts'

type Choices = Parameters<typeof fieldsWithSize>[1]

const of = (params: MediaModel['params'], fixedParams: Choices['fixedParams'] = {}): Choices => ({
  params,
  fixedParams,
})
const image = of({ aspect_ratio: ['1:1', '16:9'], resolution: ['1K', '2K'] })

/** A provider that makes two shapes. Only its square exists at two resolutions. */
const threeSizes: SizeOf = ({ aspect_ratio: ratio, orientation, resolution }) => {
  if (ratio === '16:9' || orientation === 'landscape') return { width: 1536, height: 1024 }
  const side = resolution === '2K' ? 2048 : 1024
  return { width: side, height: side }
}

function refusal(size: unknown, model: Choices, sizeOf: SizeOf = threeSizes, others: object = {}): string {
  try {
    return JSON.stringify(fieldsWithSize({ ...others, size }, model, sizeOf))
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  ['1024x1024', { aspect_ratio: '1:1', resolution: '1K' }],
  ['2048x2048', { aspect_ratio: '1:1', resolution: '2K' }],
  ['1536x1024', { aspect_ratio: '16:9', resolution: '1K' }],
])('the size %s becomes the fields for which the provider makes it', (size, fields) => {
  expect(fieldsWithSize({ prompt: 'A', size }, image, threeSizes)).toEqual({ prompt: 'A', ...fields })
})

test.each([[undefined], [null]])('the size %p changes no field', size => {
  expect(fieldsWithSize({ prompt: 'A', size }, image, threeSizes)).toEqual({ prompt: 'A', size })
})

test('the size `auto` is the default of the model, unless the model has it as a size of its own', () => {
  expect(fieldsWithSize({ prompt: 'A', size: 'auto' }, image, threeSizes)).toEqual({ prompt: 'A' })
  expect(fieldsWithSize({ size: 'auto' }, of({ size: ['1024x1024'] }), threeSizes)).toEqual({})
  expect(fieldsWithSize({ size: 'auto' }, of({ size: ['1024x1024', 'auto'] }), threeSizes)).toEqual({
    size: 'auto',
  })
})

test('a model with sizes of its own gets one of them as it came, and refuses any other', () => {
  const model = of({ size: ['1024x1024', '512x512'], aspect_ratio: ['1:1'] })

  expect(fieldsWithSize({ size: '512x512' }, model, threeSizes)).toEqual({ size: '512x512' })
  expect(refusal('2048x2048', model)).toContain('It makes these sizes: 1024x1024, 512x512.')
})

test('a model with a fixed size takes this size only, and is not asked for it again', () => {
  const model = of({ aspect_ratio: ['1:1', '3:2'] }, { size: '1024x1024' })

  expect(fieldsWithSize({ size: '1024x1024' }, model, threeSizes)).toEqual({})
  expect(refusal('1536x1024', model)).toContain('It makes these sizes: 1024x1024.')
})

test('a model with orientations gets the orientation of the size', () => {
  const model = of({ orientation: ['square', 'landscape'] })

  expect(fieldsWithSize({ size: '1536x1024' }, model, threeSizes)).toEqual({ orientation: 'landscape' })
})

test('a fixed parameter is not asked for again', () => {
  const model = of({ aspect_ratio: ['1:1', '16:9'] }, { resolution: '2K' })

  const sizeOf: SizeOf = fields => threeSizes({ ...fields, resolution: '2K' })

  expect(fieldsWithSize({ size: '2048x2048' }, model, sizeOf)).toEqual({ aspect_ratio: '1:1' })
  expect(refusal('1024x1024', model, sizeOf)).toContain('It makes these sizes: 2048x2048, 1536x1024.')
})

describe('a size that the provider does not make is refused with the sizes that it makes:', () => {
  test.each<[unknown]>([['1792x1024'], ['1536x1023'], ['512x512'], ['large'], ['0x1024'], [1024]])(
    'a size that the provider does not make is refused with the sizes that it makes: %p',
    size => {
      expect(refusal(size, image)).toContain('It makes these sizes: 1024x1024, 1536x1024, 2048x2048.')
    },
  )
})

test('every size is refused if the provider does not tell which it makes', () => {
  expect(refusal('1024x1024', image, () => undefined)).toContain('Leave out "size"')
})

test('a size next to an aspect ratio is refused, because they could differ', () => {
  expect(refusal('1024x1024', image, threeSizes, { aspect_ratio: '16:9' })).toContain('cannot be combined')
})
