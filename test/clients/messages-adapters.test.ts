import { createAnthropic } from '@ai-sdk/anthropic'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, type UsageMetadata } from '@langchain/core/messages'
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai'
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

const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const

describe('the AI SDK with its Anthropic provider', () => {
  const model = (apiKey = ada.key, name = 'sandbox-chat') =>
    createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey })(name)

  const once = { maxRetries: 0, maxOutputTokens: 500 }

  const weather = tool({
    description: 'The weather of a city',
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: ({ city }) => `Rain in ${city}.`,
  })

  test('the AI SDK with its Anthropic provider generates text and reads the usage', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model(),
      prompt: 'Hello',
      ...once,
    })

    expect(text).toContain('You wrote: "Hello".')
    expect(finishReason).toBe('stop')
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(usage.outputTokens).toBeGreaterThan(0)
  })

  test('the AI SDK with its Anthropic provider streams text and reads the usage', async () => {
    const { textStream, usage, finishReason } = streamText({
      model: model(),
      prompt: 'Hello',
      ...once,
    })

    const words = await Array.fromAsync(textStream)

    expect(words.join('')).toContain('You wrote: "Hello".')
    expect(await finishReason).toBe('stop')
    expect((await usage).inputTokens).toBeGreaterThan(0)
    expect((await usage).outputTokens).toBeGreaterThan(0)
  })

  test('the AI SDK with its Anthropic provider calls a tool and continues with its result', async () => {
    const { text, steps } = await generateText({
      model: model(),
      prompt: 'Ask weather about Oslo, please.',
      ...once,
      tools: { weather },
      stopWhen: isStepCount(3),
    })

    expect(steps).toHaveLength(2)
    expect(text).toContain('You wrote: "Rain in ')
  })

  test('the AI SDK with its Anthropic provider calls a tool in a stream and continues with its result', async () => {
    const { text, steps } = streamText({
      model: model(),
      prompt: 'Ask weather about Oslo, please.',
      ...once,
      tools: { weather },
      stopWhen: isStepCount(3),
    })

    expect(await text).toContain('You wrote: "Rain in ')
    expect(await steps).toHaveLength(2)
  })

  test('the AI SDK with its Anthropic provider generates an object that matches its schema', async () => {
    const { output } = await generateText({
      model: model(),
      prompt: 'Where?',
      ...once,
      output: Output.object({ schema: jsonSchema<{ city: string }>(citySchema) }),
    })

    expect(output.city).toBeString()
  })

  test.each([
    ['an unknown key', 401, 'API key'],
    ['an empty balance', 402, 'available balance'],
    ['an unknown model', 404, 'no-such-model'],
  ])(
    'the AI SDK with its Anthropic provider throws its error class with the gateway’s message for %s',
    async (fault, statusCode, says) => {
      const keys: Record<string, string> = { 'an unknown key': 'tg_live_no', 'an empty balance': poor.key }
      const asked = model(
        keys[fault] ?? ada.key,
        fault === 'an unknown model' ? 'no-such-model' : 'sandbox-chat',
      )

      const error = await rejection(generateText({ model: asked, prompt: 'Hello', ...once }))

      expect(APICallError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ statusCode, message: expect.stringContaining(says) })
    },
  )
})

describe('LangChain with its Anthropic model', () => {
  const model = (apiKey = ada.key) =>
    new ChatAnthropic({
      model: 'sandbox-chat',
      apiKey,
      anthropicApiUrl: gateway.url,
      maxRetries: 0,
      maxTokens: 500,
    })

  test('LangChain with its Anthropic model gets a message and its usage', async () => {
    const message = await model().invoke([new HumanMessage('Hello')])

    expect(message.text).toContain('You wrote: "Hello".')
    const { input_tokens: input, output_tokens: output } = message.usage_metadata as unknown as UsageMetadata
    expect(input).toBeGreaterThan(0)
    expect(output).toBeGreaterThan(0)
  })

  test('LangChain with its Anthropic model streams a message and its usage', async () => {
    const chunks = await Array.fromAsync(await model().stream('Hello'))

    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk))
    expect(whole.text).toContain('You wrote: "Hello".')
    const { input_tokens: input, output_tokens: output } = whole.usage_metadata as unknown as UsageMetadata
    expect(input).toBeGreaterThan(0)
    expect(output).toBeGreaterThan(0)
  })

  test('LangChain with its Anthropic model calls a tool, with and without streaming', async () => {
    const tools = [{ name: 'weather', description: 'The weather of a city', input_schema: citySchema }]
    const bound = model().bindTools(tools, { tool_choice: 'weather' })

    const message = await bound.invoke('How is it in Oslo?')
    const chunks = await Array.fromAsync(await bound.stream('How is it in Oslo?'))

    const called = [{ name: 'weather', args: { city: expect.any(String) } }]
    expect(message.tool_calls).toMatchObject(called)
    expect(chunks.reduce((sum, chunk) => sum.concat(chunk)).tool_calls).toMatchObject(called)
  })

  test('LangChain with its Anthropic model throws an error with the gateway’s message', async () => {
    const error = await rejection(model('tg_live_unknown').invoke('Hello'))

    expect(String(error)).toContain('API key')
  })
})
