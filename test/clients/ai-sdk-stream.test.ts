import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { isStepCount, jsonSchema, Output, streamText, tool, type LanguageModel } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

let requests = 0

/** A `fetch` that adds sandbox options to each request, and a value that makes it unique. */
function asking(sandbox: object): typeof fetch {
  const withSandbox = (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    requests += 1
    const added = { user: `request ${requests}`, sandbox: { pace_ms: 0, ...sandbox } }
    const body = JSON.stringify({ ...(JSON.parse(init?.body as string) as object), ...added })
    return fetch(input, { ...init, body })
  }
  return withSandbox as typeof fetch
}

const providers: readonly [string, (sandbox?: object, apiKey?: string) => LanguageModel][] = [
  [
    'its OpenAI-compatible provider',
    (sandbox = {}, apiKey = ada.key) =>
      createOpenAICompatible({
        name: 'tollgate',
        baseURL: `${gateway.url}/v1`,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: asking(sandbox),
      })('sandbox-chat'),
  ],
  [
    'its OpenAI provider on chat',
    (sandbox = {}, apiKey = ada.key) =>
      createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey, fetch: asking(sandbox) }).chat('sandbox-chat'),
  ],
]

const weather = tool({
  description: 'The weather of a city',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
  execute: ({ city }) => `Rain in ${city}.`,
})

describe.each(providers)('the AI SDK with %s, streaming', (_, model) => {
  test('the AI SDK, when it streams, reads the text, the finish reason and the usage', async () => {
    const { textStream, finishReason, usage } = streamText({
      model: model({ reply: 'Hello, world.' }),
      prompt: 'Hello',
      maxRetries: 0,
    })

    const words = await Array.fromAsync(textStream)

    expect(words.join('')).toBe('Hello, world.')
    expect(words.length).toBeGreaterThan(2)
    expect(await finishReason).toBe('stop')
    expect((await usage).outputTokens).toBeGreaterThan(0)
    expect((await usage).inputTokens).toBeGreaterThan(0)
  })

  test('the AI SDK, when it streams, calls a tool and continues with its result', async () => {
    const { text, steps } = streamText({
      model: model(),
      prompt: 'How is the weather in Oslo?',
      tools: { weather },
      stopWhen: isStepCount(2),
      maxRetries: 0,
    })

    expect(await text).not.toBe('')
    expect((await steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect((await steps)[0]?.toolResults[0]?.output).toStartWith('Rain in ')
  })

  test('the AI SDK, when it streams, streams an object that matches its schema', async () => {
    const { output } = streamText({
      model: model(),
      prompt: 'Invent a person',
      maxRetries: 0,
      output: Output.object({
        schema: jsonSchema<{ name: string }>({
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
          additionalProperties: false,
        }),
      }),
    })

    expect(await output).toEqual({ name: expect.any(String) })
  })

  test('the AI SDK, when it streams, reports the gateway’s error if the upstream breaks the stream', async () => {
    const errors: unknown[] = []
    const { fullStream } = streamText({
      model: model({ reply: 'Hello, world.', break_after: 3 }),
      prompt: 'Hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })

    const parts = await Array.fromAsync(fullStream)

    expect(parts.map(({ type }) => type)).toContain('text-delta')
    expect(parts.map(({ type }) => type)).toContain('error')
    expect(JSON.stringify(errors)).toContain('broke off')
  })

  test('the AI SDK, when it streams, throws its error class for an error before the first byte', async () => {
    const errors: unknown[] = []
    const { fullStream } = streamText({
      model: model({}, 'tg_live_unknown'),
      prompt: 'Hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })

    await Array.fromAsync(fullStream)

    expect(errors).toMatchObject([{ statusCode: 401 }])
  })
})
