import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai'
import { until } from '../support/until.ts'
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

type Completions = OpenAI7['chat']['completions']

/**
 * The major versions have the same API here, except that the oldest has its helpers elsewhere. The newest one's types
 * are used.
 */
const majors = [
  ['4', OpenAI4 as unknown as typeof OpenAI7, (client: unknown) => (client as OpenAI4).beta.chat.completions],
  ['6', OpenAI6 as unknown as typeof OpenAI7, (client: unknown) => (client as OpenAI6).chat.completions],
  ['7', OpenAI7, (client: unknown) => (client as OpenAI7).chat.completions],
] as const

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

let requests = 0

/** A unique request with a known answer. The SDK forwards the sandbox options unchanged. */
function request(sandbox: Readonly<Record<string, unknown>> = { reply: 'Hello, world.' }) {
  requests += 1
  return {
    user: `request ${requests}`,
    model: 'sandbox-chat',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
    sandbox: { pace_ms: 0, ...sandbox },
  } as const satisfies object as unknown as Parameters<Completions['stream']>[0] & { stream: true }
}

describe.each(majors)('the OpenAI SDK %s, streaming', (_, OpenAI, helpersOf) => {
  const client = (apiKey = ada.key) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const helpers = (apiKey = ada.key) => helpersOf(client(apiKey)) as unknown as Completions

  test('the OpenAI SDK, when it streams, reads the text as it arrives, and the cost in the last chunk', async () => {
    const stream = await client().chat.completions.create(request())

    const chunks = await Array.fromAsync(stream)

    const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(words).toBe('Hello, world.')
    expect(chunks.length).toBeGreaterThan(4)
    expect(chunks.every(({ model }) => model === 'sandbox-chat')).toBe(true)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: expect.any(Number), cost_usd: expect.stringMatching(/^0\.0/) },
    })
  })

  test('the OpenAI SDK, when it streams, collects a stream with its helper', async () => {
    const stream = helpers().stream(request())
    const heard: string[] = []
    stream.on('content', delta => heard.push(delta))

    const completion = await stream.finalChatCompletion()

    expect(heard.join('')).toBe('Hello, world.')
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Hello, world.' },
    })
    expect(await stream.totalUsage()).toMatchObject({ completion_tokens: expect.any(Number) })
  })

  test('the OpenAI SDK, when it streams, runs tools until there is a text answer', async () => {
    const cities: string[] = []
    const runner = helpers().runTools({
      ...request({}),
      messages: [{ role: 'user', content: 'How is the weather in Oslo?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather of a city',
            parameters,
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => {
              cities.push(city)
              return 'Rain.'
            },
          },
        },
      ],
    })

    const words = await runner.finalContent()

    expect(cities).toEqual([expect.any(String)])
    expect(words).toBeString()
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('the OpenAI SDK, when it streams, throws the gateway’s error if the upstream breaks the stream', async () => {
    const stream = await client().chat.completions.create(request({ reply: 'Hello, world.', break_after: 3 }))
    const words: string[] = []
    const read = async () => {
      for await (const { choices } of stream) words.push(choices[0]?.delta.content ?? '')
    }

    const error = await read().catch((error: unknown) => error)

    expect(words.join('')).toStartWith('Hello')
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ code: 'upstream_error', message: expect.stringContaining('broke off') })
  })

  test('the OpenAI SDK, when it streams, throws its error class for an error before the first byte', async () => {
    const error = await client(poor.key)
      .chat.completions.create(request())
      .then(
        () => undefined,
        (error: unknown) => error,
      )

    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ status: 402, code: 'insufficient_balance' })
  })

  test('the OpenAI SDK, when it streams, pays for the output so far if it aborts the stream', async () => {
    const bob = await gateway.account({ grant: '1' })
    const stream = await client(bob.key).chat.completions.create(request({ output_tokens: 1000, pace_ms: 5 }))
    for await (const { choices } of stream) if ((choices[0]?.delta.content ?? '') !== '') break

    stream.controller.abort()

    await until('nothing is held', async () => (await bob.balance()).held_usd === '0')
    const spent = 1 - Number((await bob.balance()).available_usd)
    expect(spent).toBeGreaterThan(0)
    // A thousand tokens would cost far more.
    expect(spent).toBeLessThan(0.002)
  })
})
