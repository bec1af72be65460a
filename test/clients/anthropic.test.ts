import Anthropic0 from '@anthropic-ai/sdk'
import { betaTool as betaTool0 } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import Anthropic1 from 'anthropic-1'
import { betaTool as betaTool1 } from 'anthropic-1/helpers/beta/json-schema'
import type { BetaRunnableTool } from 'anthropic-1/lib/tools/BetaRunnableTool'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { rejection } from '../support/rejection.ts'

let gateway: TestGateway
let ada: TestAccount
let poor: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
  poor = await gateway.account({ grant: '0' })
})
afterAll(() => gateway.stop())

/** Without the types that it infers from each schema, which would take the compiler half a minute. */
type MakeTool = (tool: {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
  readonly run: (input: { readonly city: string }) => string
}) => BetaRunnableTool

/** The two major versions have the same API here. The types of the newer one are used for both. */
const majors = [
  ['0', Anthropic0 as unknown as typeof Anthropic1, betaTool0 as unknown as MakeTool],
  ['1', Anthropic1, betaTool1 as unknown as MakeTool],
] as const

const weather = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

describe.each(majors)('the Anthropic SDK %s', (major, Anthropic, betaTool) => {
  const client = (apiKey: string) => new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
  const hello = {
    model: 'sandbox-chat',
    max_tokens: 500,
    messages: [{ role: 'user' as const, content: 'Hello' }],
  }

  test('the Anthropic SDK gets a message, its cost in the body and the header, and the request id', async () => {
    const { data, response, request_id } = await client(ada.key).messages.create(hello).withResponse()

    expect(data.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('"Hello"') })
    expect(data).toMatchObject({ model: 'sandbox-chat', stop_reason: 'end_turn' })
    expect(data.usage).toMatchObject({ cost_usd: response.headers.get('x-service-cost-usd') })
    expect(request_id).toStartWith('req_')
  })

  test('the Anthropic SDK streams a message whose events add up to the whole message', async () => {
    const stream = client(ada.key).messages.stream(hello)
    const seen: string[] = []
    let text = ''
    stream.on('streamEvent', event => void seen.push(event.type))
    stream.on('text', delta => (text += delta))

    const message = await stream.finalMessage()

    expect(seen[0]).toBe('message_start')
    expect(seen.at(-1)).toBe('message_stop')
    expect(message.content).toMatchObject([{ type: 'text', text }])
    expect(text).toContain('You wrote: "Hello".')
    expect(message.stop_reason).toBe('end_turn')
    expect(message.usage.input_tokens).toBeGreaterThan(0)
    expect(message.usage.output_tokens).toBeGreaterThan(0)
    expect(message.usage).toMatchObject({ cost_usd: expect.stringMatching(/^0\.\d+$/) })
  })

  test('the Anthropic SDK streams a tool call with its complete input', async () => {
    const message = await client(ada.key)
      .messages.stream({ ...hello, tools: [weather], tool_choice: { type: 'tool', name: 'weather' } })
      .finalMessage()

    expect(message).toMatchObject({
      content: [{ type: 'tool_use', name: 'weather', input: { city: expect.any(String) } }],
      stop_reason: 'tool_use',
    })
  })

  test.each([false, true])(
    'the Anthropic SDK runs tools until the model answers, streaming: %p',
    async stream => {
      const cities: unknown[] = []
      const tool = betaTool({
        name: weather.name,
        description: weather.description,
        inputSchema: weather.input_schema,
        run: ({ city }) => {
          cities.push(city)
          return 'Rain, all day.'
        },
      })

      const message = await client(ada.key)
        .beta.messages.toolRunner({
          ...hello,
          messages: [{ role: 'user', content: 'Ask weather about Oslo, please.' }],
          tools: [tool],
          stream,
        })
        .runUntilDone()

      expect(cities).toEqual([expect.any(String)])
      expect(message.content).toMatchObject([
        { type: 'text', text: expect.stringContaining('You wrote: "Rain, all day.".') },
      ])
    },
  )

  test('the Anthropic SDK counts tokens', async () => {
    const { input_tokens: tokens } = await client(ada.key).messages.countTokens({
      model: 'sandbox-chat',
      messages: hello.messages,
      tools: [weather],
    })

    expect(tokens).toBeGreaterThan(10)
  })

  test('the Anthropic SDK works on its beta routes', async () => {
    const counted = await client(ada.key).beta.messages.countTokens({
      model: 'sandbox-chat',
      messages: hello.messages,
    })
    const message = await client(ada.key).beta.messages.create({ ...hello, betas: ['some-beta-2026-01-01'] })

    expect(counted.input_tokens).toBeGreaterThan(0)
    expect(message.content).toMatchObject([{ type: 'text' }])
  })

  test('the Anthropic SDK lists and reads models with their limits', async () => {
    const { data } = await client(ada.key).models.list()
    const listed = data.find(({ id }) => id === 'sandbox-chat')
    const read = await client(ada.key).models.retrieve('sandbox-chat')

    expect(read).toEqual(listed!)
    expect(read).toMatchObject({ type: 'model', max_input_tokens: 128_000, max_tokens: 4096 })
  })

  test('the Anthropic SDK reads the request id of a path that is not served', async () => {
    const error = await rejection(
      client(ada.key).messages.batches.create({
        requests: [{ custom_id: 'one', params: hello }],
      }),
    )

    expect(error).toBeInstanceOf(Anthropic.NotFoundError)
    expect(error).toMatchObject({
      message: expect.stringContaining('Batches are not served.'),
      requestID: expect.stringMatching(/^req_/),
    })
  })

  test.each([
    ['an unknown key', 'AuthenticationError', 401, 'authentication_error'],
    ['an empty balance', 'APIError', 402, 'insufficient_balance'],
    ['an unknown model', 'NotFoundError', 404, 'not_found_error'],
    ['an unknown block', 'BadRequestError', 400, 'invalid_request_error'],
  ] as const)('the Anthropic SDK raises its own error for %s', async (fault, name, status, type) => {
    const key = { 'an unknown key': 'tg_live_unknown', 'an empty balance': poor.key }[fault as string]
    const content = fault === 'an unknown block' ? [{ type: 'hologram' }] : 'Hello'

    const error = await rejection(
      client(key ?? ada.key).messages.create({
        ...hello,
        model: fault === 'an unknown model' ? 'no-such-model' : hello.model,
        messages: [{ role: 'user', content: content as string }],
      }),
    )

    expect(error).toBeInstanceOf(Anthropic[name])
    expect(error).toMatchObject({ status, error: { type: 'error', error: { type } } })
    expect((error as { requestID: string }).requestID).toStartWith('req_')
  })

  test('the Anthropic SDK sends its key in the header of its version', async () => {
    const seen: Headers[] = []
    const watched = new Anthropic({
      apiKey: ada.key,
      baseURL: gateway.url,
      maxRetries: 0,
      fetch: (url, init) => {
        seen.push(new Headers(init?.headers))
        return fetch(url, init)
      },
    })

    await watched.messages.create(hello)

    expect(seen[0]!.has(major === '0' ? 'x-api-key' : 'authorization')).toBe(true)
  })
})

describe.each(majors)('the Anthropic SDK %s, with a model for coding agents', (...[, Anthropic]) => {
  const request = {
    model: 'agent',
    max_tokens: 500,
    messages: [{ role: 'user' as const, content: 'Hello' }],
  }

  beforeAll(async () => {
    const upstreams = [{ provider: 'sandbox', model: 'sandbox-chat' }]
    await gateway.admin('PUT', 'models/agent', {
      kind: 'chat',
      preset: 'coding-agent',
      upstreams,
      pricing: { input_per_mtok: '2', output_per_mtok: '10' },
      max_output_tokens: 1000,
    })
  })

  test('finalMessage drops the cost, which is in the event message_delta and in the usage of the account', async () => {
    const client = new Anthropic({ apiKey: ada.key, baseURL: gateway.url, maxRetries: 0 })
    const stream = client.messages.stream(request)
    let cost: unknown
    stream.on('streamEvent', event => {
      if (event.type === 'message_delta') cost = (event.usage as { cost_usd?: string }).cost_usd
    })

    const message = await stream.finalMessage()
    const used = await fetch(`${gateway.url}/v1/usage?limit=1`, { headers: { 'x-api-key': ada.key } })
    const { data } = (await used.json()) as { data: { id: string; cost_usd: string }[] }

    expect(cost).toMatch(/^0\.\d+$/)
    expect(message.usage).not.toHaveProperty('cost_usd')
    expect(data).toMatchObject([{ id: stream.request_id, cost_usd: cost }])
  })
})

test('a server-side thread continues without the server, with the whole conversation in each request', async () => {
  const client = new Anthropic1({ apiKey: ada.key, baseURL: gateway.url, maxRetries: 0 })
  const thread = client.beta.messages.thread({
    model: 'sandbox-chat',
    max_tokens: 500,
    unsupportedRequestBehavior: 'continue_unthreaded',
  })

  await thread.send({ role: 'user', content: 'First question' })
  const second = await thread.send({ role: 'user', content: 'Second question' })

  expect(second.content).toMatchObject([{ type: 'text', text: expect.stringContaining('"Second question"') }])
  expect(thread.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
})
