import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI6 from 'openai-6'
import OpenAI7, { toFile } from 'openai'
import { until } from '../support/until.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { readMp4 } from '../support/read-mp4.ts'

const png = readFileSync(join(import.meta.dirname, '../fixtures/media/image.png'))
const QUICK = 'A lighthouse at dawn [sandbox delay_ms=0]'

let gateway: TestGateway
let ada: TestAccount
let poor: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
  poor = await gateway.account({ grant: '0' })
})
afterAll(() => gateway.stop())

/** Version 4 has no videos. The types of the newest one are used for both. */
const majors = [
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

describe.each(majors)('the OpenAI SDK %s', (_, OpenAI) => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the OpenAI SDK creates a video, retrieves it until it is completed, and downloads its clip', async () => {
    const { videos } = client(ada.key)

    const created = await videos.create({
      model: 'sandbox-video',
      prompt: QUICK,
      seconds: '8',
      size: '720x1280',
    })
    await until('the job has ended', async () => (await videos.retrieve(created.id)).status === 'completed')
    const completed = await videos.retrieve(created.id)
    const content = await videos.downloadContent(created.id)

    expect(created).toMatchObject({ status: 'processing', model: 'sandbox-video', estimated_cost_usd: '0.4' })
    expect(completed).toMatchObject({ id: created.id, duration: 8, cost_usd: '0.4' })
    expect(content.headers.get('content-type')).toBe('video/mp4')
    expect(readMp4(new Uint8Array(await content.arrayBuffer())).durationMs).toBe(8000)
  })

  test('the OpenAI SDK creates a video from an image, as a file or as a link', async () => {
    const { videos } = client(ada.key)
    const file = await toFile(png, 'image.png', { type: 'image/png' })
    const reference = { image_url: `data:image/png;base64,${png.toString('base64')}` }

    const created = [
      await videos.create({ model: 'sandbox-video', prompt: QUICK, input_reference: file }),
      await videos.create({ model: 'sandbox-video', prompt: QUICK, input_reference: reference }),
    ]

    expect(created.map(({ status }) => status as string)).toEqual(['processing', 'processing'])
  })

  test('the OpenAI SDK gets an error class for each status', async () => {
    const { videos } = client(ada.key)
    const body = { model: 'sandbox-video', prompt: QUICK } as const
    const never = await videos.create({ ...body, prompt: 'A [sandbox never]' })

    expect(await failureOf(videos.create({ ...body, seconds: '99' as never }))).toBe('BadRequestError')
    expect(await failureOf(videos.create({ ...body, model: 'nope' }))).toBe('BadRequestError')
    expect(await failureOf(client('none').videos.create(body))).toBe('AuthenticationError')
    expect(await failureOf(videos.retrieve('vid_00000000000000000000000000'))).toBe('NotFoundError')
    expect(await failureOf(videos.downloadContent(never.id))).toBe('ConflictError')
    expect(await failureOf(client(poor.key).videos.create(body))).toBe('APIError')
  })

  test('the OpenAI SDK does not send a failed job again by itself', async () => {
    let requests = 0
    const counting = new OpenAI({
      apiKey: ada.key,
      baseURL: `${gateway.url}/v1`,
      fetch: (input, init) => {
        // The SDK also tries out on a data URL whether its fetch can send forms.
        if (typeof input === 'string' && input.startsWith(gateway.url)) requests += 1
        return fetch(input, init)
      },
    })

    const failure = await failureOf(
      counting.videos.create({ model: 'sandbox-video', prompt: 'A [sandbox submit=unknown]' }),
    )

    expect([failure, requests]).toEqual(['InternalServerError', 1])
  })
})

async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    return (error as Error).constructor.name
  }
}
