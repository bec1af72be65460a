import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { shapedModel, startScriptedVideos } from '../gateways/video-gateway.ts'

const MEGABYTE = 1024 * 1024
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../../fixtures/media', name))
const png = fixture('image.png')
const mp4 = fixture('clip.mp4')

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedVideos({ models: [{ ...imageModel() }, shapedModel] })
  ada = await gateway.account({ grant: '1000' })
})
afterAll(() => gateway.stop())

function imageModel(): object {
  return {
    id: 'draw',
    kind: 'image',
    upstreams: [{ provider: 'box', model: 'image' }],
    pricing: { per_image: '0.1' },
  }
}

type Part = readonly [name: string, value: string | Blob, fileName?: string]

function formOf(parts: readonly Part[]): FormData {
  const form = new FormData()
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, fileName ?? 'file.bin')
  }
  return form
}

async function send(
  parts: readonly Part[],
  options: { path?: string; headers?: Record<string, string> } = {},
) {
  const { path = '/v1/videos', headers = {} } = options
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': ada.key, ...headers },
    body: formOf(parts),
  })
}

/** What the provider gets of a form. */
async function submitOf(parts: readonly Part[], path?: string) {
  const response = await send(
    [['model', 'family-a'], ['prompt', 'A'], ...parts],
    path === undefined ? {} : { path },
  )
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
  return gateway.media.submits.at(-1)!
}

const PNG = { from: 'bytes', mediaType: 'image/png', content: png }
const MP4 = { from: 'bytes', mediaType: 'video/mp4', content: mp4 }

describe('a multipart form on a video route', () => {
  test.each(['/v1/videos', '/v1/video/generations', '/v1/videos/extend', '/v1/videos/storyboard'])(
    'a multipart form on a video route is accepted on %s',
    async path => {
      expect((await submitOf([], path)).prompt).toBe('A')
    },
  )

  test('a multipart form on a video route has its text parts as the JSON fields of the same name, and numbers as text', async () => {
    await send([
      ['model', 'shaped'],
      ['prompt', 'A'],
      ['seconds', '8'],
      ['aspect_ratio', '9:16'],
      ['size', '1280x720'],
    ])

    expect(gateway.media.submits.at(-1)).toMatchObject({
      prompt: 'A',
      durationMs: 8000,
      params: { aspect_ratio: '9:16' },
    })
  })

  test('a multipart form on a video route may have scenes as an array', async () => {
    const response = await send([
      ['model', 'storyboard'],
      ['prompt', 'A'],
      ['scenes[]', 'first'],
      ['scenes[]', 'second'],
    ])

    expect(response.status).toBe(202)
    expect(gateway.media.submits.at(-1)!.scenes).toEqual(['first', 'second'])
  })

  test.each([
    ['timeout', '0', 202],
    ['wait', 'false', 202],
    ['wait', 'maybe', 400],
    ['duration', '3', 400],
    ['aspect_ratio', '4:3', 400],
  ])(
    'a multipart form on a video route has the field %s read as in JSON: %s is %d',
    async (name, value, status) => {
      const response = await send([
        ['model', 'family-a'],
        ['prompt', 'A'],
        [name, value],
      ])

      expect(response.status).toBe(status)
    },
  )

  test.each(['input_reference', 'image', 'ref_images'])(
    'a multipart form on a video route has an image in its file part %s',
    async name => {
      expect((await submitOf([[name, new Blob([png]), 'a.png']])).images as object).toEqual([PNG])
    },
  )

  test.each(['input_reference', 'video', 'motion_video'])(
    'a multipart form on a video route has a video in its file part %s',
    async name => {
      expect((await submitOf([[name, new Blob([mp4]), 'a.mp4']])).videos as object).toEqual([MP4])
    },
  )

  test('a multipart form on a video route has several inputs in parts of the same name, files and ids', async () => {
    const { images } = await submitOf([
      ['image', new Blob([png])],
      ['image', 'image-uuid-1'],
      ['image', `data:image/png;base64,${png.toString('base64')}`],
    ])

    expect(images as object).toEqual([PNG, { from: 'provider_id', id: 'image-uuid-1' }, PNG])
  })

  test('a multipart form on a video route of the same content is the same request, whatever its boundary is', async () => {
    const headers = { 'idempotency-key': 'form-1' }
    const parts: readonly Part[] = [
      ['model', 'family-a'],
      ['prompt', 'A'],
      ['input_reference', new Blob([png])],
    ]
    const idOf = async (response: Response) => ((await response.json()) as { id: string }).id
    const first = await idOf(await send(parts, { headers }))

    const repeated = await idOf(await send(parts, { headers }))
    const [, , ...file] = parts
    const otherPrompt = await send([parts[0]!, ['prompt', 'B'], ...file], { headers })
    const otherFile = await send([parts[0]!, parts[1]!, ['input_reference', new Blob([png, '.'])]], {
      headers,
    })

    expect(repeated).toBe(first)
    expect([otherPrompt.status, otherFile.status]).toEqual([409, 409])
  })

  test('a multipart form on a video route with a file of more than 80 MB is 400', async () => {
    const response = await send([
      ['model', 'family-a'],
      ['prompt', 'A'],
      ['image', new Blob([png, new Uint8Array(80 * MEGABYTE)])],
    ])

    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_field', param: 'image' })
  })

  test.each<[string, string | Blob]>([
    ['input_reference', new Blob([])],
    ['video', new Blob([], { type: 'video/mp4' })],
    ['image', 'data:image/png;base64,'],
  ])('a multipart form with the empty file %s is 400, and no file stays', async (param, content) => {
    const response = await send([
      ['model', 'family-a'],
      ['prompt', 'A'],
      ['ref_images', new Blob([png])],
      typeof content === 'string' ? [param, content] : [param, content, 'a'],
    ])

    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_field', param })
  })

  test.each([
    ['no model', [['prompt', 'A']], 'invalid_field'],
    ['no prompt', [['model', 'family-a']], 'invalid_field'],
    [
      'the model twice',
      [
        ['model', 'family-a'],
        ['model', 'family-b'],
        ['prompt', 'A'],
      ],
      'ambiguous_field',
    ],
  ] as const)('a multipart form on a video route with %s is 400', async (_, parts, code) => {
    expect(await refusalOf(await send(parts))).toMatchObject({ status: 400, code })
  })

  test.each([
    ['a form without a boundary', 'multipart/form-data', '--b--\r\n', 'malformed_request'],
    ['a form that is cut', 'multipart/form-data; boundary=b', '--b\r\ncontent-dis', 'malformed_request'],
    ['multipart of another kind', 'multipart/mixed; boundary=b', '--b--\r\n', 'malformed_request'],
    ['JSON that is declared to be a form', 'multipart/form-data; boundary=b', '{}', 'malformed_request'],
    ['a form that is declared to be JSON', 'application/json', '--b--\r\n', 'invalid_json'],
  ])('%s is 400', async (_, type, body, code) => {
    const response = await gateway.create(ada.key, body, { headers: { 'content-type': type } })

    expect(await refusalOf(response)).toMatchObject({ status: 400, code })
  })
})

test.each(['/v1/images/generations', '/v1/images/edits'])(
  "a form on %s stays 400 'Invalid JSON'",
  async path => {
    const response = await send(
      [
        ['model', 'draw'],
        ['prompt', 'A'],
      ],
      { path },
    )

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: 'Invalid JSON', code: 'json_required' } })
  },
)
