import { describe, expect, test } from 'bun:test'
import { engines } from '../../domain/catalog/engines.ts'
import {
  chooseParams,
  imageDefaults,
  readDuration,
  readImageRequest,
  readVideoRequest,
  videoDefaults,
} from './media-requests.ts'

const codeOf = (run: () => unknown): unknown => {
  try {
    return { read: run() }
  } catch (error) {
    const { code, extras, message } = error as { code: string; extras: { param: string }; message: string }
    return { code, param: extras.param, message }
  }
}

describe('an image request', () => {
  const request = { model: 'draw', prompt: 'a cat' }

  test('an image request asks for one image unless it says otherwise', () => {
    expect(readImageRequest(request)).toEqual({ ...request, count: 1 })
    expect(readImageRequest({ ...request, n: 10 }).count).toBe(10)
  })

  test('an image request may have an empty prompt, which the model judges', () => {
    expect(readImageRequest({ ...request, prompt: '' }).prompt).toBe('')
  })

  test.each([
    [{ prompt: 'a cat' }, 'model'],
    [{ model: '', prompt: 'a cat' }, 'model'],
    [{ model: 'draw' }, 'prompt'],
    [{ ...request, prompt: 7 }, 'prompt'],
    ...[0, 11, 1.5, '2', true, []].map(n => [{ ...request, n }, 'n'] as const),
  ])('%j is refused, naming %s', (fields, param) => {
    expect(codeOf(() => readImageRequest(fields))).toMatchObject({ code: 'invalid_field', param })
  })
})

describe('the parameters of a media request', () => {
  const sets = { aspect_ratio: ['16:9', '1:1'], resolution: ['2K', '4K'], steps: ['20', '50'] }

  test.each([
    ['the default of the contract, where the set has it', {}, imageDefaults, { aspect_ratio: '1:1' }],
    ['the default of videos', {}, videoDefaults, { aspect_ratio: '16:9' }],
    ['the first of the set, where it lacks that default', {}, imageDefaults, { resolution: '2K' }],
    ['what the request says', { resolution: '4K' }, imageDefaults, { resolution: '4K' }],
    ['null counts as absent', { resolution: null }, imageDefaults, { resolution: '2K' }],
    ['a number counts as its digits', { steps: 50 }, imageDefaults, { steps: '50' }],
  ])('the choice of a parameter follows the set of the row: %s', (_, fields, defaults, expected) => {
    expect(chooseParams(fields, sets, defaults)).toMatchObject(expected)
  })

  test('the parameters of a media request leave out fields that the row does not list', () => {
    expect(chooseParams({ seed: 7, orientation: 'portrait' }, { resolution: ['1K'] }, imageDefaults)).toEqual(
      {
        resolution: '1K',
      },
    )
  })

  test.each([['8K'], [7], [true], [['2K']], [{}]])(
    'a media request with the resolution %j is refused, naming the set',
    value => {
      expect(codeOf(() => chooseParams({ resolution: value }, sets, imageDefaults))).toMatchObject({
        code: 'invalid_field',
        param: 'resolution',
        message: expect.stringContaining('"2K", "4K"'),
      })
    },
  )
})

describe('a video request', () => {
  const request = { model: 'film', prompt: 'a cat' }
  const waitMsMax = 90_000

  test.each([
    [{}, null],
    [{ wait: false }, null],
    [{ wait: true }, 90_000],
    [{ wait: 'true' }, 90_000],
    [{ timeout: 30 }, 30_000],
    [{ wait: false, timeout: 30 }, 30_000],
    [{ timeout: '12.5' }, 12_500],
    [{ timeout: 900 }, 90_000],
    [{ timeout: 0 }, 0],
    [{ timeout: -3 }, 0],
    [{ timeout: 'soon' }, 90_000],
    [{ timeout: null }, null],
  ])('%j waits %p ms', (fields, waitMs) => {
    expect(readVideoRequest({ ...request, ...fields }, { waitMsMax }).waitMs).toBe(waitMs)
  })

  test.each([
    [{ prompt: 'x' }, 'model'],
    [{ model: 'film' }, 'prompt'],
    [{ ...request, wait: 'yes' }, 'wait'],
    [{ ...request, ref_video_job_id: 7 }, 'ref_video_job_id'],
  ])('%j is refused, naming %s', (fields, param) => {
    expect(codeOf(() => readVideoRequest(fields, { waitMsMax }))).toMatchObject({
      code: 'invalid_field',
      param,
    })
  })

  test.each([[['a', 7, { b: null }]], ['a; b'], [{ a: 1 }], [0], [false]])(
    'a video request keeps the scenes %j as they came',
    scenes => {
      expect(readVideoRequest({ ...request, scenes }, { waitMsMax }).scenes).toEqual(scenes)
    },
  )

  test('a video request has no scenes if they are null', () => {
    expect(readVideoRequest({ ...request, scenes: null }, { waitMsMax }).scenes).toBeUndefined()
  })
})

describe('the duration of a video request', () => {
  test.each([
    ['family-a', {}, undefined],
    ['family-a', { duration: 4 }, 4000],
    ['family-a', { seconds: 15 }, 15_000],
    ['family-a', { duration: 4.5 }, 4500],
    ['family-a', { duration: '7' }, 7000],
    ['family-c', { duration: 10, seconds: 5 }, 10_000],
    ['family-c', { duration: null, seconds: 5 }, 5000],
  ] as const)('%s: %j is %p ms', (engine, fields, ms) => {
    expect(readDuration(fields, engines[engine])).toBe(ms)
  })

  test.each([
    ['family-a', { duration: 3.9 }, 'duration', '4 to 15 seconds'],
    ['family-c', { duration: 7 }, 'duration', '5 or 10 seconds'],
    ['family-e', { seconds: 5 }, 'seconds', '4, 6 or 8 seconds'],
    ['family-e', { seconds: 'long' }, 'seconds', 'a number of seconds'],
  ] as const)('%s refuses %j', (engine, fields, param, words) => {
    expect(codeOf(() => readDuration(fields, engines[engine]))).toMatchObject({
      code: 'invalid_field',
      param,
      message: expect.stringContaining(words),
    })
  })
})
