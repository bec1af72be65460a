import { HumanMessage, ToolMessage, type AIMessageChunk } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const

describe('LangChain’s OpenAI chat model, streaming', () => {
  const model = (sandbox: object = {}, apiKey = ada.key) =>
    new ChatOpenAI({
      model: 'sandbox-chat',
      apiKey,
      maxRetries: 0,
      streamUsage: true,
      configuration: { baseURL: `${gateway.url}/v1` },
      modelKwargs: { sandbox: { pace_ms: 0, ...sandbox } },
    })

  test('LangChain’s OpenAI chat model, when it streams, reads the text, the finish reason and the usage', async () => {
    const chunks = await Array.fromAsync(await model({ reply: 'Hello, world.' }).stream('Hello'))

    const whole = joined(chunks)
    expect(whole.text).toBe('Hello, world.')
    expect(chunks.length).toBeGreaterThan(4)
    expect(whole.response_metadata['finish_reason']).toBe('stop')
    expect(whole.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) })
  })

  test('LangChain’s OpenAI chat model, when it streams, calls a tool and continues with its result', async () => {
    const bound = model().bindTools([weather])
    const question = new HumanMessage('How is the weather in Oslo?')
    const asked = joined(await Array.fromAsync(await bound.stream([question])))
    const [call] = asked.tool_calls ?? []
    const result = new ToolMessage({ content: 'Rain.', tool_call_id: call?.id ?? '' })

    const answered = joined(await Array.fromAsync(await bound.stream([question, asked, result])))

    expect(call).toMatchObject({ name: 'weather', args: { city: expect.any(String) } })
    expect(answered.text).not.toBe('')
  })

  test('LangChain’s OpenAI chat model, when it streams, throws the gateway’s error if the upstream breaks the stream', async () => {
    const stream = await model({ reply: 'Hello, world.', break_after: 3 }).stream('Hello')

    const error = await Array.fromAsync(stream).then(
      () => undefined,
      (error: unknown) => error,
    )

    expect(error).toMatchObject({ message: expect.stringContaining('broke off') })
  })

  test('LangChain’s OpenAI chat model, when it streams, throws its error class for an error before the first byte', async () => {
    const error = await model({}, 'tg_live_unknown')
      .stream('Hello')
      .then(
        () => undefined,
        (error: unknown) => error,
      )

    expect(error).toMatchObject({ status: 401 })
  })
})

function joined(chunks: readonly AIMessageChunk[]): AIMessageChunk {
  return chunks.reduce((whole, chunk) => whole.concat(chunk))
}
