import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import OpenAI7, { toFile } from 'openai'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const png = readFileSync(join(import.meta.dirname, '../fixtures/media/image.png'))
/** The width and the height of a PNG are two big-endian numbers at this place. */
const PNG_SIZE_AT = 16

let gateway: TestGateway
let ada: TestAccount
let poor: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
  poor = await gateway.account({ grant: '0' })
})
afterAll(() => gateway.stop())

/** The types of the newest one are used for all. */
const majors = [
  ['4', OpenAI4 as unknown as typeof OpenAI7],
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

describe.each(majors)('the OpenAI SDK %s', (_, OpenAI) => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the OpenAI SDK generates two images, with their cost', async () => {
    const { images } = client(ada.key)

    const made = await images.generate({
      model: 'sandbox-image',
      prompt: 'A red fox',
      n: 2,
      size: '1024x1024',
      response_format: 'b64_json',
    })

    expect(made).toMatchObject({ created: expect.any(Number), cost_usd: '0.08' })
    expect(made.data?.map(({ b64_json: image }) => sizeOf(image ?? ''))).toEqual([
      [1024, 1024],
      [1024, 1024],
    ])
  })

  test('the OpenAI SDK gets base64 even if it asks for links', async () => {
    const [image] =
      (
        await client(ada.key).images.generate({
          model: 'sandbox-image',
          prompt: 'A red fox',
          response_format: 'url',
        })
      ).data ?? []

    expect(image?.url).toBeUndefined()
    expect(sizeOf(image?.b64_json ?? '')).toEqual([1024, 1024])
  })

  test('the OpenAI SDK gets an error class for each status', async () => {
    const { images } = client(ada.key)
    const body = { model: 'sandbox-image', prompt: 'A red fox' } as const
    const file = await toFile(png, 'image.png', { type: 'image/png' })

    expect(await failureOf(images.generate({ ...body, n: 11 }))).toBe('BadRequestError')
    expect(await failureOf(images.generate({ ...body, model: 'nope' }))).toBe('BadRequestError')
    // The SDK sends edits as multipart/form-data, which the contract refuses on image routes.
    expect(await failureOf(images.edit({ ...body, image: file }))).toBe('BadRequestError')
    expect(await failureOf(client('none').images.generate(body))).toBe('AuthenticationError')
    expect(await failureOf(client(poor.key).images.generate(body))).toBe('APIError')
  })

  test('the OpenAI SDK does not send a job again by itself once money may have moved', async () => {
    let requests = 0
    const counting = new OpenAI({
      apiKey: ada.key,
      baseURL: `${gateway.url}/v1`,
      fetch: (input: string | URL | Request, init?: RequestInit) => {
        requests += 1
        return fetch(input, init)
      },
    })

    const failure = await failureOf(
      counting.images.generate({ model: 'sandbox-image', prompt: 'A [sandbox submit=unknown]' }),
    )

    expect([failure, requests]).toEqual(['InternalServerError', 1])
  })
})

function sizeOf(image: string): readonly number[] {
  const bytes = Buffer.from(image, 'base64')
  return [bytes.readUInt32BE(PNG_SIZE_AT), bytes.readUInt32BE(PNG_SIZE_AT + 4)]
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    return (error as Error).constructor.name
  }
}
