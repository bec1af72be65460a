import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let ada: TestAccount
let poor: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
  poor = await gateway.account({ grant: '0' })
})
afterAll(() => gateway.stop())

/** The three major versions have the same API here. The types of the newest one are used for all. */
const majors = [
  ['4', OpenAI4 as unknown as typeof OpenAI7],
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
} as const

describe.each(majors)('the OpenAI SDK %s', (_, OpenAI) => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the OpenAI SDK gets an answer with its cost in the body and the header', async () => {
    const { data, response } = await client(ada.key)
      .chat.completions.create({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] })
      .withResponse()

    expect(data.choices[0]?.message.content).toBeString()
    expect(data.model).toBe('sandbox-chat')
    expect(data.usage).toMatchObject({ cost_usd: response.headers.get('x-service-cost-usd') })
  })

  test('the OpenAI SDK gets a tool call that it can parse', async () => {
    const reply = await client(ada.key).chat.completions.create({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'How is the weather in Oslo?' }],
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    })

    const call = reply.choices[0]?.message.tool_calls?.[0]
    if (call?.type !== 'function') throw new Error('No function was called.')
    expect(call.function.name).toBe('weather')
    expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) })
  })

  test('the OpenAI SDK gets structured output that matches its schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    const reply = await client(ada.key).chat.completions.create({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Invent a person' }],
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
    })

    expect(JSON.parse(reply.choices[0]?.message.content ?? '')).toEqual({
      name: expect.any(String),
      age: expect.any(Number),
    })
  })

  test('the OpenAI SDK lists and reads models', async () => {
    const models = await client(ada.key).models.list()

    expect(models.data.map(model => model.id)).toContain('sandbox-chat')
    expect(await client(ada.key).models.retrieve('sandbox-chat')).toMatchObject({
      object: 'model',
      context_window: 128_000,
      max_output_tokens: 4096,
    })
  })

  test.each([
    ['an unknown key', 'AuthenticationError', 401, 'invalid_api_key'],
    ['an empty balance', 'APIError', 402, 'insufficient_balance'],
    ['an unknown model', 'NotFoundError', 404, 'model_not_found'],
  ] as const)('the OpenAI SDK raises its own error for %s', async (fault, name, status, code) => {
    const keys = {
      'an unknown key': 'tg_live_unknown',
      'an empty balance': poor.key,
      'an unknown model': ada.key,
    }
    const model = fault === 'an unknown model' ? 'no-such-model' : 'sandbox-chat'
    const asked = client(keys[fault]).chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
    })

    const error: unknown = await asked.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(OpenAI[name])
    expect(error).toMatchObject({ status, code })
    expect(requestIdOf(error)).toStartWith('req_')
  })
})

/** Version 4 has the headers of an error as an object. */
function requestIdOf(error: unknown): string | null | undefined {
  const { headers } = error as { headers: Headers | Record<string, string> }
  return headers instanceof Headers ? headers.get('x-request-id') : headers['x-request-id']
}
