import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool as agentTool,
  type RunStreamEvent,
} from '@openai/agents'
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { rejection } from '../support/rejection.ts'
import { unpaced } from './unpaced.ts'

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  setTracingDisabled(true)
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const

const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city',
  parameters: citySchema,
  strict: true,
} as const

/** Both major versions have the same API here. The types of the newer one are used for both. */
const majors = [
  ['6', OpenAI6 as unknown as typeof OpenAI7],
  ['7', OpenAI7],
] as const

describe.each(majors)('the OpenAI SDK %s on responses', (_, OpenAI) => {
  const client = (apiKey = ada.key) =>
    new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 }).responses
  const hello = { model: 'sandbox-chat', input: 'Hello' }
  /** Options for the sandbox. */
  const asking = (sandbox: object) => ({ ...hello, sandbox: { pace_ms: 0, ...sandbox } })

  test('on responses, the OpenAI SDK gets a response with its cost in the body and the header', async () => {
    const { data, response } = await client().create(hello).withResponse()

    expect(data.output_text).toContain('You wrote: "Hello".')
    expect(data).toMatchObject({ model: 'sandbox-chat', status: 'completed' })
    expect(data.usage).toMatchObject({ cost_usd: response.headers.get('x-service-cost-usd') })
  })

  test('on responses, the OpenAI SDK streams a response whose events add up to the whole response', async () => {
    const stream = client().stream(asking({ reasoning: 'Let me see.', reply: 'Hello, world.' }))
    const types: string[] = []
    let text = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    const whole = await stream.finalResponse()

    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(text).toBe('Hello, world.')
    expect(whole.output_text).toBe('Hello, world.')
    expect(whole.usage?.output_tokens).toBeGreaterThan(0)
  })

  test('on responses, the OpenAI SDK reads the cost in a stream without event names', async () => {
    const whole = await client()
      .stream(asking({ no_event_names: true }))
      .finalResponse()

    expect(whole.usage).toMatchObject({ cost_usd: expect.stringMatching(/^0\.\d+$/) })
  })

  test('on responses, the OpenAI SDK streams a tool call with its complete arguments and continues with its result', async () => {
    const asked = { ...asking({}), input: 'Ask weather about Oslo, please.', tools: [weather] }
    const called = await client().stream(asked).finalResponse()
    const [call] = called.output
    if (call?.type !== 'function_call') throw new Error('No function was called.')

    const answer = await client()
      .stream({
        ...asked,
        input: [
          { role: 'user', content: asked.input },
          call,
          { type: 'function_call_output', call_id: call.call_id, output: 'Rain.' },
        ],
      })
      .finalResponse()

    expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) })
    expect(answer.output_text).toContain('You wrote: "Rain.".')
  })

  test('on responses, the OpenAI SDK parses structured output that matches its schema', async () => {
    const format = { type: 'json_schema', name: 'place', strict: true, schema: citySchema } as const

    const { output_text: text } = await client().create({ ...hello, text: { format } })

    expect(JSON.parse(text)).toEqual({ city: expect.any(String) })
  })

  test('on responses, the OpenAI SDK sees a broken stream as a failed response', async () => {
    const events = await Array.fromAsync(
      await client().create({ ...asking({ break_after: 6 }), stream: true }),
    )

    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'upstream_error' } },
    })
  })

  test.each([
    ['an unknown key', 401],
    ['an unknown model', 404],
    ['work in the background', 400],
  ])('on responses, the OpenAI SDK throws its error class for %s', async (fault, status) => {
    const asked = client(fault === 'an unknown key' ? 'tg_live_unknown' : ada.key).create({
      ...hello,
      model: fault === 'an unknown model' ? 'no-such-model' : hello.model,
      ...(fault === 'work in the background' ? { background: true } : {}),
    })

    expect(await rejection(asked)).toMatchObject({ status })
  })
})

describe('the AI SDK with its OpenAI provider on responses', () => {
  const model = (apiKey = ada.key) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey, fetch: unpaced }).responses('sandbox-chat')
  const weatherTool = tool({
    description: weather.description,
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: ({ city }) => `Rain in ${city}.`,
  })

  test('the AI SDK with its OpenAI provider on responses generates and streams text, with the usage', async () => {
    const { text, usage } = await generateText({ model: model(), prompt: 'Hello', maxRetries: 0 })
    const streamed = streamText({ model: model(), prompt: 'Hello', maxRetries: 0 })

    expect(text).toContain('You wrote: "Hello".')
    expect(usage.outputTokens).toBeGreaterThan(0)
    expect(await streamed.text).toBe(text)
    expect((await streamed.usage).outputTokens).toBe(usage.outputTokens)
  })

  test.each(['whole', 'streamed'])(
    'the AI SDK with its OpenAI provider on responses calls a tool and continues with its result, %s',
    async how => {
      const asked = {
        model: model(),
        prompt: 'Ask weather about Oslo, please.',
        maxRetries: 0,
        tools: { weather: weatherTool },
        stopWhen: isStepCount(3),
      }

      const { text } = how === 'whole' ? await generateText(asked) : streamText(asked)

      expect(await text).toContain('You wrote: "Rain in ')
    },
  )

  test('the AI SDK with its OpenAI provider on responses generates an object that matches its schema', async () => {
    const { output } = await generateText({
      model: model(),
      prompt: 'Where?',
      maxRetries: 0,
      output: Output.object({ schema: jsonSchema<{ city: string }>(citySchema) }),
    })

    expect(output.city).toBeString()
  })

  test('the AI SDK with its OpenAI provider on responses throws its error class with the gateway’s message', async () => {
    const error = await rejection(
      generateText({ model: model('tg_live_unknown'), prompt: 'Hello', maxRetries: 0 }),
    )

    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 401, message: expect.stringContaining('API key') })
  })
})

describe('LangChain with its OpenAI model on responses', () => {
  const model = () =>
    new ChatOpenAI({
      model: 'sandbox-chat',
      apiKey: ada.key,
      configuration: { baseURL: `${gateway.url}/v1`, fetch: unpaced },
      useResponsesApi: true,
      maxRetries: 0,
    })

  test('LangChain with its OpenAI model on responses gets and streams a message', async () => {
    const message = await model().invoke('Hello')
    const chunks = await Array.fromAsync(await model().stream('Hello'))

    expect(message.text).toContain('You wrote: "Hello".')
    expect(chunks.reduce((sum, chunk) => sum.concat(chunk)).text).toBe(message.text)
  })

  test('LangChain with its OpenAI model on responses streams a tool call', async () => {
    const { name, description, parameters } = weather
    const asChatHasIt = { type: 'function', function: { name, description, parameters } }
    const bound = model().bindTools([asChatHasIt])

    const chunks = await Array.fromAsync(await bound.stream('Ask weather about Oslo, please.'))

    expect(chunks.reduce((sum, chunk) => sum.concat(chunk)).tool_calls).toMatchObject([
      { name: 'weather', args: { city: expect.any(String) } },
    ])
  })
})

describe('an agent of the OpenAI agents SDK', () => {
  const runner = (apiKey = ada.key) =>
    new Runner({
      modelProvider: new OpenAIProvider({
        openAIClient: new OpenAI7({ apiKey, baseURL: `${gateway.url}/v1`, fetch: unpaced, maxRetries: 0 }),
        useResponses: true,
      }),
    })
  const agent = () =>
    new Agent({
      name: 'Guide',
      instructions: 'Help travellers.',
      model: 'sandbox-chat',
      tools: [
        agentTool({
          name: 'weather',
          description: weather.description,
          parameters: { ...citySchema, required: ['city'] },
          strict: true,
          execute: input => `Rain in ${(input as { city: string }).city}.`,
        }),
      ],
    })

  test('an agent of the OpenAI agents SDK calls its tool and answers with the result', async () => {
    const result = await runner().run(agent(), 'Ask weather about Oslo, please.')

    expect(result.finalOutput).toContain('You wrote: "Rain in ')
  })

  test('an agent of the OpenAI agents SDK calls its tool in a stream', async () => {
    const result = await runner().run(agent(), 'Ask weather about Oslo, please.', { stream: true })
    const events: RunStreamEvent[] = await Array.fromAsync(result)
    await result.completed

    expect(events.filter(event => event.type === 'run_item_stream_event').map(({ name }) => name)).toEqual([
      'tool_called',
      'tool_output',
      'message_output_created',
    ])
    expect(result.finalOutput).toContain('You wrote: "Rain in ')
  })

  test('an agent of the OpenAI agents SDK gets an error of the gateway', async () => {
    const error = await rejection(runner('tg_live_unknown').run(agent(), 'Hello'))

    expect(String(error)).toContain('API key')
  })
})
