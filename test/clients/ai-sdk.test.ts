import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, jsonSchema, Output, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

describe('the AI SDK with its OpenAI-compatible provider', () => {
  const model = (apiKey: string) =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${gateway.url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })('sandbox-chat')

  test('the AI SDK with its OpenAI-compatible provider generates text and reads the usage', async () => {
    const { text, usage } = await generateText({ model: model(ada.key), prompt: 'Hello', maxRetries: 0 })

    expect(text).not.toBe('')
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(usage.outputTokens).toBeGreaterThan(0)
  })

  test('the AI SDK with its OpenAI-compatible provider calls a tool', async () => {
    const { toolCalls } = await generateText({
      model: model(ada.key),
      prompt: 'How is the weather in Oslo?',
      maxRetries: 0,
      toolChoice: 'required',
      tools: {
        weather: tool({
          description: 'The weather of a city',
          inputSchema: jsonSchema<{ city: string }>({
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          }),
        }),
      },
    })

    expect(toolCalls).toMatchObject([{ toolName: 'weather', input: { city: expect.any(String) } }])
  })

  test('the AI SDK with its OpenAI-compatible provider generates an object that matches its schema', async () => {
    const { output } = await generateText({
      model: model(ada.key),
      prompt: 'Invent a person',
      maxRetries: 0,
      output: Output.object({
        schema: jsonSchema<{ name: string }>({
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
        }),
      }),
    })

    expect(output.name).toBeString()
  })

  test('the AI SDK with its OpenAI-compatible provider throws its error class with the gateway’s message', async () => {
    const asked = generateText({ model: model('tg_live_unknown'), prompt: 'Hello', maxRetries: 0 })

    const error = await asked.then(
      () => null,
      (error: unknown) => error,
    )
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 401, message: expect.stringContaining('API key') })
  })
})
