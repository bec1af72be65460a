import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateImage } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import OpenAI7, { toFile } from 'openai'
import { until } from '../support/until.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

// The official clients with TOLLGATE_OPENAI_MEDIA=on. `openai-images.test.ts` and `openai-videos.test.ts` have the
// OpenAI SDKs with `off`.

const png = readFileSync(join(import.meta.dirname, '../fixtures/media/image.png'))
/** The width and the height of a PNG are two big-endian numbers at this place. */
const PNG_SIZE_AT = 16
const QUICK = 'A lighthouse at dawn [sandbox delay_ms=0]'

let gateway: TestGateway
let ada: TestAccount
let plain: TestGateway
let bob: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway({ environment: { TOLLGATE_OPENAI_MEDIA: 'on' } })
  ada = await gateway.account({ grant: '100' })
  plain = await startTestGateway()
  bob = await plain.account({ grant: '1' })
})
afterAll(async () => {
  await gateway.stop()
  await plain.stop()
})

const image = () => toFile(png, 'image.png', { type: 'image/png' })

/** The types of the newest one are used for all. */
const majors = [
  ['4', OpenAI4 as unknown as typeof OpenAI7],
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

describe.each(majors)('the OpenAI SDK %s with TOLLGATE_OPENAI_MEDIA', (_, OpenAI) => {
  const client = () => new OpenAI({ apiKey: ada.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the OpenAI SDK edits one image', async () => {
    const made = await client().images.edit({ model: 'sandbox-image', prompt: 'Blue', image: await image() })

    expect(made).toMatchObject({ cost_usd: '0.04', data: [{ b64_json: expect.any(String) }] })
  })

  test('the OpenAI SDK edits several images into several', async () => {
    const made = await client().images.edit({
      model: 'sandbox-image',
      prompt: 'Together',
      image: [await image(), await image()],
      n: 2,
    })

    expect(made).toMatchObject({ cost_usd: '0.08' })
    expect(made.data).toHaveLength(2)
  })

  test('the OpenAI SDK gets an image of the size that it asks for', async () => {
    const made = await client().images.generate({
      model: 'sandbox-image',
      prompt: 'A red fox',
      size: '1024x1024',
    })

    expect(sizeOf(made.data?.[0]?.b64_json ?? '')).toEqual([1024, 1024])
  })

  test('the OpenAI SDK gets an error with the sizes that exist', async () => {
    const asked = client().images.generate({ model: 'sandbox-image', prompt: 'A fox', size: '512x512' })

    expect(await failureOf(asked)).toMatchObject({
      status: 400,
      code: 'invalid_field',
      param: 'size',
      message: expect.stringContaining('1024x1024, 1024x576'),
    })
  })

  test('the OpenAI SDK gets an error for a mask', async () => {
    const asked = client().images.edit({
      model: 'sandbox-image',
      prompt: 'A hat',
      image: await image(),
      mask: await image(),
    })

    expect(await failureOf(asked)).toMatchObject({ status: 400, param: 'mask' })
  })
})

/** Version 4 has neither image streams nor videos. */
describe.each(majors.slice(1))('the OpenAI SDK %s with TOLLGATE_OPENAI_MEDIA', (_, OpenAI) => {
  const client = () => new OpenAI({ apiKey: ada.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the OpenAI SDK streams images, with their cost', async () => {
    const stream = await client().images.generate({
      model: 'sandbox-image',
      prompt: 'A red fox',
      n: 2,
      stream: true,
      partial_images: 2,
    })

    const events = await collected(stream)
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.completed',
      'image_generation.completed',
    ])
    expect(events.map(({ b64_json: made }) => sizeOf(made))).toEqual([
      [1024, 1024],
      [1024, 1024],
    ])
    expect(events[1]?.usage).toMatchObject({ total_tokens: 0, cost_usd: '0.08' })
  })

  test('the OpenAI SDK streams an edit', async () => {
    const stream = await client().images.edit({
      model: 'sandbox-image',
      prompt: 'Blue',
      image: await image(),
      stream: true,
    })

    const events = await collected(stream)
    expect(events).toMatchObject([{ type: 'image_edit.completed', usage: { cost_usd: '0.04' } }])
  })

  test('the OpenAI SDK throws the error that ends a stream', async () => {
    const stream = await client().images.generate({
      model: 'sandbox-image',
      prompt: 'A [sandbox fail=UNSAFE]',
      stream: true,
    })

    expect(await failureOf(collected(stream))).toMatchObject({
      type: 'generation_error',
      code: 'UNSAFE',
    })
  })

  test('the OpenAI SDK creates a video, polls it to its end, lists, downloads and deletes it', async () => {
    const { videos } = client()
    const created = await videos.create({
      model: 'sandbox-video',
      prompt: QUICK,
      seconds: '8',
    })

    const video = await polled(client(), created)
    const content = await videos.downloadContent(video.id)
    const listed: string[] = []
    for await (const each of videos.list({ limit: 1 })) listed.push(each.id)
    const deleted = await videos.delete(video.id)

    expect(created).toMatchObject({ object: 'video', status: 'in_progress', seconds: '8' })
    expect(video).toMatchObject({ status: 'completed', progress: 100, cost_usd: '0.4', error: null })
    expect(content.headers.get('content-type')).toBe('video/mp4')
    expect(listed[0]).toBe(video.id)
    expect(deleted).toEqual({ id: video.id, deleted: true, object: 'video.deleted' })
    expect(await failureOf(videos.downloadContent(video.id))).toMatchObject({ status: 410 })
  })

  test('the OpenAI SDK lists all videos, page after page', async () => {
    const { videos } = client()
    const created: string[] = []
    for (let index = 0; index < 3; index += 1)
      created.push((await videos.create({ model: 'sandbox-video', prompt: QUICK })).id)

    const listed: string[] = []
    for await (const { id } of videos.list({ limit: 2, order: 'asc' })) listed.push(id)

    expect(listed.slice(-3)).toEqual(created)
  })

  test('the OpenAI SDK gets an error class for what a video does not have', async () => {
    const { videos } = client()
    const running = await videos.create({ model: 'sandbox-video', prompt: 'A [sandbox never]' })
    const variant = videos.downloadContent(running.id, { variant: 'thumbnail' })

    expect(await failureOf(variant)).toMatchObject({ status: 400, param: 'variant' })
    expect(await failureOf(videos.delete(running.id))).toMatchObject({ status: 409 })
    expect(await failureOf(videos.delete('vid_00000000000000000000000000'))).toMatchObject({ status: 404 })
  })
})

describe.each([
  ['OpenAI', () => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: ada.key }).image('sandbox-image')],
  [
    'OpenAI-compatible',
    () =>
      createOpenAICompatible({ name: 'gate', baseURL: `${gateway.url}/v1`, apiKey: ada.key }).imageModel(
        'sandbox-image',
      ),
  ],
])('the AI SDK with its %s provider and TOLLGATE_OPENAI_MEDIA', (_, model) => {
  test('the AI SDK generates images of a size', async () => {
    const made = await generateImage({
      model: model(),
      prompt: 'A red fox',
      n: 2,
      size: '1024x576',
      maxRetries: 0,
    })

    const sizes = made.images.map(({ base64 }) => sizeOf(base64))
    expect(sizes).toEqual([
      [1024, 576],
      [1024, 576],
    ])
  })

  test.each([1, 2])('the AI SDK generates an image from %d images', async count => {
    const made = await generateImage({
      model: model(),
      prompt: { text: 'Make it blue', images: Array.from({ length: count }, () => new Uint8Array(png)) },
      maxRetries: 0,
    })

    expect(made.images.map(({ mediaType }) => mediaType)).toEqual(['image/png'])
  })
})

describe('the AI SDK without TOLLGATE_OPENAI_MEDIA', () => {
  const model = () =>
    createOpenAICompatible({ name: 'gate', baseURL: `${plain.url}/v1`, apiKey: bob.key }).imageModel(
      'sandbox-image',
    )

  test('the AI SDK generates an image from a text', async () => {
    const made = await generateImage({ model: model(), prompt: 'A red fox', maxRetries: 0 })

    expect(sizeOf(made.image.base64)).toEqual([1024, 1024])
  })

  test('the AI SDK gets an error for input images, which it sends as a form', async () => {
    const prompt = { text: 'Make it blue', images: [new Uint8Array(png)] }

    const failure = await failureOf(generateImage({ model: model(), prompt, maxRetries: 0 }))

    expect(failure).toMatchObject({ statusCode: 400, message: 'Invalid JSON' })
  })
})

type Asked = InstanceType<typeof OpenAI7>
type Video = Awaited<ReturnType<Asked['videos']['retrieve']>>

/** What `create_and_poll` of the Python SDK does: it asks again while a video is queued or in progress. */
async function polled({ videos }: Asked, created: Video): Promise<Video> {
  let video = created
  await until('the video has ended', async () => {
    video = await videos.retrieve(created.id)
    return video.status !== 'queued' && video.status !== 'in_progress'
  })
  return video
}

type ImageEvent = { readonly type: string; readonly b64_json: string; readonly usage?: object }

async function collected(stream: AsyncIterable<ImageEvent>): Promise<readonly ImageEvent[]> {
  const events: ImageEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

function sizeOf(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64')
  return [bytes.readUInt32BE(PNG_SIZE_AT), bytes.readUInt32BE(PNG_SIZE_AT + 4)]
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'none',
    (error: unknown) => error,
  )
}
