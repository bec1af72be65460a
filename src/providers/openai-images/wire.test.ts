import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { openAiImagesProvider } from '../../../test/support/media-providers.ts'
import type { Params } from '../../domain/jobs/params.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { editForm, generationJson, imageSize, readRejection, readResult } from './wire.ts'

const fixture = fixturesOf(import.meta)
const BOUNDARY = 'tollgate-boundary'

function aCall(change: Partial<SubmitCall> = {}): SubmitCall {
  return aSubmitCall(openAiImagesProvider('http://127.0.0.1'), { model: 'gpt-image-2', ...change })
}

describe('a request for images', () => {
  test('a request for images has the model, the prompt and a size', () => {
    const json = generationJson(
      aCall({ prompt: 'Ein "Turm" 🗼', params: { aspect_ratio: '16:9', resolution: '1K' } }),
    )

    expect(JSON.parse(json)).toEqual({ model: 'gpt-image-2', prompt: 'Ein "Turm" 🗼', size: '1280x720' })
  })

  test('a request for images has the other parameters of the row, with their types', () => {
    const params = { quality: 'high', output_compression: 80, moderation: 'low' }

    expect(JSON.parse(generationJson(aCall({ params })))).toMatchObject(params)
  })

  test.each(['n', 'stream', 'partial_images', 'response_format', 'model', 'prompt', 'image'])(
    'a request for images never has %s from the parameters, and never the number of images',
    name => {
      const json = JSON.parse(generationJson(aCall({ count: 4, params: { [name]: 'x' } }))) as Record<
        string,
        unknown
      >

      expect(json[name]).not.toBe('x')
      expect(Object.keys(json).sort()).toEqual(['model', 'prompt'])
    },
  )

  test.each([
    ['gpt-image-2', false],
    ['chatgpt-image-latest', false],
    ['dall-e-3', true],
    ['relay/dall-e-2', true],
  ])('a request for images of %s asks for base64 only where that is a field: %j', (model, isAsked) => {
    const json = JSON.parse(generationJson(aCall({ model }))) as Record<string, unknown>

    expect(json['response_format']).toBe(isAsked ? 'b64_json' : undefined)
  })
})

describe('the size', () => {
  test.each<[string, Params, string | undefined]>([
    ['gpt-image-2', { aspect_ratio: '1:1' }, '1024x1024'],
    ['gpt-image-2', { aspect_ratio: '1:1', resolution: '2K' }, '2048x2048'],
    ['gpt-image-2', { aspect_ratio: '1:1', resolution: '4K' }, '2880x2880'],
    ['gpt-image-2', { aspect_ratio: '16:9', resolution: '1K' }, '1280x720'],
    ['gpt-image-2', { aspect_ratio: '16:9', resolution: '2K' }, '2560x1440'],
    ['gpt-image-2', { aspect_ratio: '16:9', resolution: '4K' }, '3840x2160'],
    ['gpt-image-2-2026-04-21', { aspect_ratio: '9:16', resolution: '4K' }, '2160x3840'],
    ['gpt-image-2.5-flare', { aspect_ratio: '21:9', resolution: '1K' }, '1456x624'],
    ['openai/gpt-image-2', { aspect_ratio: '21:9', resolution: '4K' }, '3808x1632'],
    ['gpt-image-2', { orientation: 'portrait' }, '832x1248'],
    ['gpt-image-2', { resolution: '2K' }, '2048x2048'],
    ['gpt-image-2', { aspect_ratio: '97:89' }, undefined],
    ['gpt-image-1.5', { aspect_ratio: '16:9', resolution: '4K' }, '1536x1024'],
    ['gpt-image-1.5', { aspect_ratio: '3:4' }, '1024x1536'],
    ['gpt-image-1-mini', { orientation: 'landscape' }, '1536x1024'],
    ['chatgpt-image-latest', { orientation: 'square' }, '1024x1024'],
    ['dall-e-3', { aspect_ratio: '16:9' }, '1792x1024'],
    ['dall-e-3', { aspect_ratio: '2:3' }, '1024x1792'],
    ['dall-e-2', { aspect_ratio: '16:9' }, '1024x1024'],
    ['gpt-image-2', {}, undefined],
    ['gpt-image-2', { aspect_ratio: '16:0' }, undefined],
    ['gpt-image-2', { aspect_ratio: '16:9', size: 'auto' }, 'auto'],
  ])('the size of %s with %j is %s', (model, params, size) => {
    expect(imageSize(model, params)).toBe(size)
  })

  test('the size respects the limits of a model that accepts any size', () => {
    const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9']
    const sizes = ratios.flatMap(aspect_ratio =>
      ['1K', '2K', '4K'].map(resolution => imageSize('gpt-image-2', { aspect_ratio, resolution })),
    )

    for (const size of sizes) {
      const [width = 0, height = 0] = String(size).split('x').map(Number)
      expect([width % 16, height % 16]).toEqual([0, 0])
      expect(width * height).toBeWithin(655_360, 8_294_401)
      expect(Math.max(width, height)).toBeLessThanOrEqual(3840)
    }
  })
})

describe('a request for an edit', () => {
  test('a request for an edit is a form with the fields and the images, as any reader of forms sees it', async () => {
    const image = new Uint8Array(Array.from({ length: 4000 }, (_, index) => index % 256))
    const call = aCall({
      prompt: 'Line one\r\nLine two "quoted"',
      params: { aspect_ratio: '1:1', quality: 'low' },
      count: 3,
      images: [bytesInput(image), bytesInput(image.slice(0, 5), 'image/webp')],
    })

    const form = await formOf(call)

    expect([...form.keys()]).toEqual(['model', 'prompt', 'quality', 'size', 'image[]', 'image[]'])
    expect(form.get('prompt')).toBe('Line one\r\nLine two "quoted"')
    const files = form.getAll('image[]') as File[]
    expect(files.map(({ name, type, size }) => ({ name, type, size }))).toEqual([
      { name: 'image-0.png', type: 'image/png', size: 4000 },
      { name: 'image-1.webp', type: 'image/webp', size: 5 },
    ])
    expect(await files[0]?.bytes()).toEqual(image)
  })

  test('a request for an edit has one image under the name without brackets', async () => {
    const form = await formOf(aCall({ images: [bytesInput(new Uint8Array(3), 'application/octet-stream')] }))

    expect((form.get('image') as File).name).toBe('image-0.bin')
  })

  test('a request for an edit has links and ids as text', async () => {
    const images = [
      { from: 'url', url: 'https://example.com/a.png?b=c' },
      { from: 'provider_id', id: 'file-1' },
    ] as const

    const form = await formOf(aCall({ images }))

    expect(form.getAll('image[]')).toEqual(['https://example.com/a.png?b=c', 'file-1'])
  })
})

describe('an answer', () => {
  test('an answer with base64 has the bytes of the image', () => {
    const result = readResult(fixture('gpt-image'))

    const [output] = result?.outputs ?? []
    expect(output?.from === 'bytes' && new TextDecoder('latin1').decode(output.bytes.subarray(1, 4))).toBe(
      'PNG',
    )
    expect(result).toMatchObject({ outputs: [{ from: 'bytes' }], isCounted: true })
  })

  test.each([
    [undefined, { textInput: 50, imageInput: 0, textOutput: 0, imageOutput: 4160 }],
    [
      {
        input_tokens: 373,
        input_tokens_details: { text_tokens: 50, image_tokens: 323 },
        output_tokens: 4260,
        output_tokens_details: { image_tokens: 4160, text_tokens: 100 },
      },
      { textInput: 50, imageInput: 323, textOutput: 100, imageOutput: 4160 },
    ],
    [
      { input_tokens: 50, output_tokens: 272 },
      { textInput: 50, imageInput: 0, textOutput: 0, imageOutput: 272 },
    ],
    // The details are parts of the whole.
    [
      {
        input_tokens: 50,
        input_tokens_details: { image_tokens: 60 },
        output_tokens: 272,
        output_tokens_details: { text_tokens: 300 },
      },
      { textInput: 0, imageInput: 50, textOutput: 272, imageOutput: 0 },
    ],
    [
      { input_tokens: '50', output_tokens: null },
      { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 },
    ],
  ])('an answer with the usage %j has its tokens', (usage, tokens) => {
    const answer = JSON.parse(fixture('gpt-image')) as { usage: object }

    expect(readResult(JSON.stringify({ ...answer, usage: usage ?? answer.usage }))).toMatchObject({ tokens })
  })

  test('an answer without a usage has no tokens', () => {
    expect(readResult(fixture('dall-e-3-url'))).not.toHaveProperty('tokens')
  })

  test('an answer with a link has the link as it is', () => {
    expect(readResult(fixture('dall-e-3-url'))).toEqual({
      outputs: [
        {
          from: 'url',
          url: 'https://images.example.net/private/org-abc/img-1.png?se=2026-11-22T12%3A00%3A00Z&sig=abc',
        },
      ],
      isCounted: true,
    })
  })

  test.each([
    ['{"data":[]}', 0],
    ['{"data":[{}, null, 7, {"b64_json":""}, {"url":""}, {"url":5}, {"b64_json":"no base64!"}]}', 0],
    ['{"data":[{"b64_json":"AAAA"}, {"b64_json":"BBBB"}]}', 2],
    ['{"data":[{"url":"data:image/png;base64,AAAA"}]}', 1],
  ])('%j has %d images', (body, count) => {
    expect(readResult(body)?.outputs.length).toBe(count)
  })

  test('an answer with an image inside its link has its bytes', () => {
    const result = readResult('{"data":[{"url":"data:image/png;base64,AQID"}]}')

    expect(result?.outputs).toEqual([{ from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }])
  })

  test.each([
    '',
    '<html>',
    '{"data":',
    '[]',
    '{}',
    '{"data":null}',
    '{"data":{}}',
    '{"error":{"message":"no"}}',
  ])('%j is not a result', body => {
    expect(readResult(body)).toBeUndefined()
  })
})

describe('an error', () => {
  test.each([
    [400, 'moderation-blocked', 'invalid', 'moderation_blocked'],
    [400, 'invalid-value', 'invalid', 'invalid_value'],
    [429, 'rate-limit', 'rate_limited', 'rate_limit_exceeded'],
    [429, 'insufficient-quota', 'operator', 'insufficient_quota'],
    [400, 'billing-hard-limit', 'operator', 'billing_hard_limit_reached'],
    [401, 'invalid-key', 'operator', 'invalid_api_key'],
    [402, 'server-error', 'operator', undefined],
    [403, 'server-error', 'operator', undefined],
    [404, 'invalid-value', 'invalid', 'invalid_value'],
    [408, 'server-error', 'invalid', undefined],
    [409, 'server-error', 'invalid', undefined],
    [302, 'server-error', 'operator', undefined],
  ])('an error of status %d like %s is %s', (status, name, reason, code) => {
    const contentType = 'application/json'

    const rejection = readRejection({ status, contentType, body: fixture(name) })

    expect(rejection).toMatchObject({ reason, status })
    expect(rejection.code).toBe(code)
    expect(rejection.message).not.toBe('')
  })

  test('an error keeps the time to wait', () => {
    const answer = { status: 429, body: fixture('rate-limit'), retryAfterS: 12 }

    expect(readRejection(answer)).toMatchObject({ retryAfterS: 12 })
  })
})

async function formOf(call: SubmitCall): Promise<FormData> {
  const body = joinedBody(editForm(call, BOUNDARY))
  const bytes = await bytesOf(body.stream)
  expect(bytes.length).toBe(body.length)
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return new Response(bytes, { headers }).formData()
}
