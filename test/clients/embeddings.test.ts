import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { rejection } from '../support/rejection.ts'

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

/** The three major versions have the same API here. The types of the newest one are used for all. */
const majors = [
  ['4', OpenAI4 as unknown as typeof OpenAI7],
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

describe.each(majors)('the OpenAI SDK %s on embeddings', (_, OpenAI) => {
  const client = () => new OpenAI({ apiKey: ada.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }).embeddings
  const asked = { model: 'sandbox-embed', input: ['first', 'second'], dimensions: 8 }

  test('on embeddings, the OpenAI SDK decodes the base64 that it requests by default to the same floats', async () => {
    const unpacked = await client().create(asked)
    const floats = await client().create({ ...asked, encoding_format: 'float' })

    expect(unpacked.data.map(({ embedding }) => Array.from(embedding))).toEqual(
      floats.data.map(({ embedding }) => embedding),
    )
    expect(floats.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 8],
      [1, 8],
    ])
  })

  test('on embeddings, the OpenAI SDK gets base64 unchanged if it is requested', async () => {
    const { data } = await client().create({ ...asked, encoding_format: 'base64' })

    expect(data[0]!.embedding).toMatch(/^[\w+/]+=*$/)
  })

  test('on embeddings, the OpenAI SDK gets the cost in the body and the header', async () => {
    const { data, response } = await client().create(asked).withResponse()

    expect(data.model).toBe('sandbox-embed')
    expect(data.usage).toMatchObject({ cost_usd: response.headers.get('x-service-cost-usd') })
  })

  test('on embeddings, the OpenAI SDK throws its error class for a chat model', async () => {
    const error = await rejection(client().create({ ...asked, model: 'sandbox-chat' }))

    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  })
})
