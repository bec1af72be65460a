import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { probeSandbox, sandbox } from './sandbox.ts'
import { countTokens } from './sandbox-text.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

afterEach(() => {
  expect(clock.waiting).toBe(0)
})

describe('a chat answer', () => {
  test('a chat answer is a complete chat completion, and its usage counts its content', async () => {
    const reply = await chat({ messages: [user('How are you?')] })

    expect(reply).toMatchObject({
      object: 'chat.completion',
      created: Math.floor(clock.now() / 1000),
      model: 'sandbox-chat',
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }],
    })
    const text = reply.choices[0]?.message.content ?? ''
    expect(text).toStartWith('This is the sandbox, not a model. You wrote: "How are you?".')
    expect(reply.usage?.completion_tokens).toBe(countTokens(text))
    expect(reply.usage?.prompt_tokens).toBeGreaterThanOrEqual(countTokens('How are you?'))
    expect(reply.usage?.total_tokens).toBe(reply.usage!.prompt_tokens + reply.usage!.completion_tokens)
  })

  test('a chat answer is the same for the same request, and different for a different one', async () => {
    const [first, again, other] = [
      await chat({ messages: [user('one')] }),
      await chat({ messages: [user('one')] }),
      await chat({ messages: [user('two')] }),
    ]

    expect(again).toEqual(first)
    expect(other.id).not.toBe(first.id)
    expect(other.choices).not.toEqual(first.choices)
  })

  test.each([{ max_tokens: 7 }, { max_completion_tokens: 7 }, { max_tokens: 50, max_completion_tokens: 7 }])(
    'a chat answer ends by length at the ceiling of %j',
    async ceiling => {
      const reply = await chat(ceiling)

      expect(reply.choices[0]?.finish_reason).toBe('length')
      expect(reply.usage?.completion_tokens).toBe(7)
      expect(countTokens(reply.choices[0]?.message.content ?? '')).toBe(7)
    },
  )

  test('a chat answer has n different choices, and its usage counts all of them', async () => {
    const reply = await chat({ n: 3 })

    const texts = reply.choices.map(choice => choice.message.content ?? '')
    expect(reply.choices.map(choice => choice.index)).toEqual([0, 1, 2])
    expect(new Set(texts).size).toBe(3)
    expect(reply.usage?.completion_tokens).toBe(
      texts.map(countTokens).reduce((total, tokens) => total + tokens, 0),
    )
  })

  test('a chat answer stops before a stop sequence', async () => {
    const reply = await chat({ sandbox: { reply: 'one two three' }, stop: ['three', ' two'] })

    expect(reply.choices[0]?.message.content).toBe('one')
    expect(reply.choices[0]?.finish_reason).toBe('stop')
  })

  test('a chat answer has the text and the reasoning that the request sets', async () => {
    const reply = await chat({ sandbox: { reply: 'Four.', reasoning: 'Two and two.' } })

    expect(reply.choices[0]?.message).toMatchObject({ content: 'Four.', reasoning_content: 'Two and two.' })
    expect(reply.usage).toMatchObject({
      completion_tokens: countTokens('Four.') + countTokens('Two and two.'),
      completion_tokens_details: { reasoning_tokens: countTokens('Two and two.') },
    })
  })

  test('a chat answer has exactly the requested number of tokens', async () => {
    const reply = await chat({ sandbox: { output_tokens: 500 } })

    expect(reply.usage?.completion_tokens).toBe(500)
    expect(countTokens(reply.choices[0]?.message.content ?? '')).toBe(500)
  })

  test('a chat answer refuses or is filtered if the request asks for it', async () => {
    const reply = await chat({ sandbox: { refusal: 'No.', finish_reason: 'content_filter' } })

    expect(reply.choices[0]).toMatchObject({
      message: { content: null, refusal: 'No.' },
      finish_reason: 'content_filter',
    })
  })

  test('a chat answer reports the usage and the cost that the request sets, or no usage', async () => {
    const reported = await complete({ sandbox: { usage: { prompt_tokens: -1 }, cost_usd: '0.25' } })
    const silent = await chat({ sandbox: { usage: null } })

    expect(reported.outcome === 'answered' && reported.reportedCost).toBe('0.25')
    expect(reported.outcome === 'answered' && jsonOf(reported.body)).toMatchObject({
      usage: { prompt_tokens: -1 },
    })
    expect(silent.usage).toBeUndefined()
  })

  test('a chat answer matches the requested JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18 } },
      required: ['name', 'age'],
      additionalProperties: false,
    }

    const reply = await chat({
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
    })

    const text = reply.choices[0]?.message.content ?? ''
    expect(z.fromJSONSchema(schema as never).safeParse(JSON.parse(text)).success).toBe(true)
  })

  test('a chat answer is a JSON object if one is requested', async () => {
    const reply = await chat({ response_format: { type: 'json_object' } })

    expect(JSON.parse(reply.choices[0]?.message.content ?? '')).toBeObject()
  })
})

describe('tools', () => {
  const weather = tool('get_weather', { city: { type: 'string' } })
  const time = tool('get_time', { zone: { enum: ['UTC'] } })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['forced by name', { tool_choice: { type: 'function', function: { name: 'get_time' } } }, ['get_time']],
    ['required', { tool_choice: 'required' }, ['get_weather']],
    ['mentioned', { messages: [user('call get_time now')] }, ['get_time']],
    ['mentioned together', { messages: [user('get_weather and get_time')] }, ['get_weather', 'get_time']],
    [
      'mentioned together, but one at a time',
      { messages: [user('get_weather and get_time')], parallel_tool_calls: false },
      ['get_weather'],
    ],
    ['not mentioned', { messages: [user('hello')] }, []],
    ['forbidden', { messages: [user('call get_time now')], tool_choice: 'none' }, []],
    ['answered already', { messages: [user('get_time'), { role: 'tool', content: 'noon' }] }, []],
  ])('%s are called', async (_name, request, called) => {
    const reply = await chat({ tools: [weather, time], ...request })

    const calls = reply.choices[0]?.message.tool_calls ?? []
    expect(calls.map(call => call.function.name)).toEqual(called)
    expect(reply.choices[0]?.finish_reason).toBe(called.length > 0 ? 'tool_calls' : 'stop')
    expect(new Set(calls.map(call => call.id)).size).toBe(called.length)
  })

  test('tools are called with arguments that match their schema and count as output', async () => {
    const reply = await chat({ tools: [time], tool_choice: 'required' })

    const [call] = reply.choices[0]?.message.tool_calls ?? []
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ zone: 'UTC' })
    expect(reply.usage?.completion_tokens).toBe(
      countTokens('get_time') + countTokens(call?.function.arguments ?? ''),
    )
  })
})

describe('a requested fault:', () => {
  test('an error has the requested status, members and Retry-After', async () => {
    const outcome = await complete({
      sandbox: { status: 429, retry_after_s: 2, error: { message: 'Slow down.', code: 'rate_limit' } },
    })

    expect(outcome).toMatchObject({
      outcome: 'answered',
      status: 429,
      contentType: 'application/json',
      retryAfter: { text: '2', delayMs: 2000 },
    })
    expect(outcome.outcome === 'answered' && jsonOf(outcome.body)).toEqual({
      error: { message: 'Slow down.', type: 'sandbox_error', code: 'rate_limit' },
    })
  })

  test.each([
    ['refused', { outcome: 'unreachable', reason: 'ECONNREFUSED' }],
    ['reset', { outcome: 'unreachable', reason: 'ECONNRESET' }],
    ['cut', { outcome: 'unreachable', reason: 'ECONNRESET' }],
    ['html', { outcome: 'answered', status: 200, contentType: 'text/html' }],
    ['broken_json', { outcome: 'answered', status: 200, contentType: 'application/json' }],
  ])('a reply has the fault that its request asks for: "%s"', async (fail, expected) => {
    const outcome = await complete({ sandbox: { fail } })

    expect(outcome).toMatchObject(expected)
    if (outcome.outcome === 'answered') expect(() => jsonOf(outcome.body)).toThrow()
  })

  test('an empty answer has no output tokens', async () => {
    const reply = await chat({ sandbox: { fail: 'empty' } })

    expect(reply.choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop' })
    expect(reply.usage?.completion_tokens).toBe(0)
  })

  test('a body is returned byte for byte', async () => {
    const body = '{"id":"x",  "usage":{"prompt_tokens":1e0}}'

    const outcome = await complete({ sandbox: { body, status: 201 } })

    expect(outcome).toMatchObject({ outcome: 'answered', status: 201, body })
  })

  test('a delay passes before the answer', async () => {
    const pending = complete({ sandbox: { delay_ms: 50 } })

    clock.advance(49)
    expect(clock.waiting).toBe(1)
    clock.advance(1)

    expect(await pending).toMatchObject({ outcome: 'answered', status: 200 })
  })

  test.each([{ fail: 'hang' }, { delay_ms: 1_000 }])('%j ends at the read limit', async options => {
    const pending = complete({ sandbox: options }, { readTimeoutMs: 1_000 })

    clock.advance(1_000)

    expect(await pending).toEqual({ outcome: 'timed_out' })
  })

  test('a call with a late limit times out and answers later', async () => {
    const pending = complete({ sandbox: { delay_ms: 1_500 } }, { readTimeoutMs: 1_000, lateMs: 5_000 })
    clock.advance(1_000)
    const outcome = await pending
    if (outcome.outcome !== 'timed_out' || outcome.late === undefined) throw new Error('It is not late.')

    clock.advance(499)
    expect(clock.waiting).toBe(1)
    clock.advance(1)

    expect(await outcome.late.outcome).toMatchObject({ outcome: 'answered', status: 200 })
  })

  test.each([
    ['runs out of time', 'timed_out', () => clock.advance(5_000)],
    ['is abandoned', 'aborted', (abandon: () => void) => abandon()],
  ])('a late call that %s ends as %s', async (_, expected, end) => {
    const pending = complete({ sandbox: { fail: 'hang' } }, { readTimeoutMs: 1_000, lateMs: 5_000 })
    clock.advance(1_000)
    const outcome = await pending
    if (outcome.outcome !== 'timed_out' || outcome.late === undefined) throw new Error('It is not late.')
    const { late } = outcome

    end(() => late.abandon())

    expect(await late.outcome).toEqual({ outcome: expected as never })
    expect(clock.waiting).toBe(0)
  })

  test('a caller that aborts ends the wait', async () => {
    const caller = new AbortController()
    const pending = complete({ sandbox: { fail: 'hang' } }, { signal: caller.signal })

    caller.abort()

    expect(await pending).toEqual({ outcome: 'aborted' })
    expect(await complete({}, { signal: caller.signal })).toEqual({ outcome: 'aborted' })
  })
})

describe('an invalid request gets a 400 that names the field:', () => {
  test.each<[unknown, string]>([
    [{ sandbox: { stauts: 500 } }, 'sandbox.stauts'],
    [{ sandbox: { fail: 'explode' } }, 'sandbox.fail'],
    [{ sandbox: { delay_ms: -1 } }, 'sandbox.delay_ms'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ n: 1_000 }, 'n'],
    [{ n: '2' }, 'n'],
    [{ seed: 0.5 }, 'seed'],
    [{ stop: ['a', 7] }, 'stop.1'],
    [{ messages: 'hello' }, 'messages'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: [{ text: 'hello' }] }] }, 'messages.0.content.0.type'],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    [{ tool_choice: 'always' }, 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.function'],
    [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: {} }, 'response_format.type'],
    [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    [{ sandbox: 'explode' }, 'sandbox'],
    [{ sandbox: { status: 199 } }, 'sandbox.status'],
    [{ sandbox: { error: 'no' } }, 'sandbox.error'],
    [{ sandbox: { reply: 7 } }, 'sandbox.reply'],
    [{ sandbox: { usage: [] } }, 'sandbox.usage'],
    [{ sandbox: { no_done: 'yes' } }, 'sandbox.no_done'],
    [{ sandbox: { chunk_bytes: 0 } }, 'sandbox.chunk_bytes'],
    [{ sandbox: { output_tokens: 100_001 } }, 'sandbox.output_tokens'],
  ])('an invalid request gets a 400 that names the field: %j', async (request, param) => {
    const outcome = await complete(request as Record<string, unknown>)

    expect(outcome).toMatchObject({ outcome: 'answered', status: 400 })
    expect(outcome.outcome === 'answered' && jsonOf(outcome.body)).toMatchObject({
      error: { message: expect.stringContaining(`"${param}"`), type: 'invalid_request_error', param },
    })
  })

  test.each(['{"model":', '[]', 'null'])(
    'an invalid request gets a 400 that names the field: the body %s, which is not a JSON object',
    async body => {
      const outcome = await send('chat', body)

      expect(outcome).toMatchObject({ outcome: 'answered', status: 400 })
      expect(outcome.outcome === 'answered' && jsonOf(outcome.body)).toMatchObject({ error: { param: null } })
    },
  )

  test.each<[unknown, string]>([
    [{ input: 7 }, 'input'],
    [{ input: ['a', 1] }, 'input'],
    [{ input: [-1] }, 'input'],
    [{ input: [[1], [0.5]] }, 'input'],
    [{ input: 'a', dimensions: 5000 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ])(
    'an invalid request gets a 400 that names the field: %j on the embeddings route',
    async (request, param) => {
      const outcome = await send(
        'embeddings',
        JSON.stringify({ model: 'sandbox-embed', ...(request as object) }),
      )

      expect(outcome).toMatchObject({ outcome: 'answered', status: 400 })
      expect(outcome.outcome === 'answered' && jsonOf(outcome.body)).toMatchObject({ error: { param } })
    },
  )
})

describe('embeddings', () => {
  test('embeddings are unit vectors in the order of the inputs, the same for the same text', async () => {
    const reply = await embed({ input: ['a quiet river', 'trains', 'a quiet river'] })

    const [first, second, third] = reply.data.map(entry => entry.embedding as number[])
    expect(reply.data.map(entry => entry.index)).toEqual([0, 1, 2])
    expect(first).toHaveLength(256)
    expect(Math.hypot(...first!)).toBeCloseTo(1, 5)
    expect(third).toEqual(first)
    expect(second).not.toEqual(first)
    expect(reply.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 })
  })

  test('embeddings are closer for texts with common words', async () => {
    const reply = await embed({ input: ['a quiet river', 'the quiet river', 'fast trains'] })

    const [river, same, trains] = reply.data.map(entry => entry.embedding as number[])
    expect(dot(river!, same!)).toBeGreaterThan(dot(river!, trains!) + 0.3)
  })

  test('embeddings can be requested in base64 and with a number of dimensions', async () => {
    const floats = await embed({ input: 'hello', dimensions: 8 })
    const packed = await embed({ input: 'hello', dimensions: 8, encoding_format: 'base64' })

    const bytes = Buffer.from(packed.data[0]!.embedding as string, 'base64')
    expect([...new Float32Array(new Uint8Array(bytes).buffer)]).toEqual(floats.data[0]!.embedding as number[])
  })

  test.each([
    [[1, 2, 3], 1, 3],
    [[[1, 2], [3]], 2, 3],
    ['', 1, 0],
  ])('embeddings of %j are %d vectors of %d tokens', async (input, count, tokens) => {
    const reply = await embed({ input })

    expect(reply.data).toHaveLength(count)
    expect(reply.usage.total_tokens).toBe(tokens)
  })
})

const PROVIDER: Provider = {
  id: 'sandbox',
  kind: 'sandbox',
  secret: { from: 'none' },
  headers: {},
  routes: ['chat', 'embeddings'],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}

type Options = { readonly readTimeoutMs?: number; readonly lateMs?: number; readonly signal?: AbortSignal }

function send(route: TextRoute, body: string, { readTimeoutMs = 60_000, lateMs, signal }: Options = {}) {
  const call = {
    provider: PROVIDER,
    route,
    model: 'sandbox-chat',
    body,
    readTimeoutMs,
    ...(lateMs === undefined ? {} : { lateMs }),
  }
  return sandbox({ clock }).complete(call, signal)
}

function complete(request: Record<string, unknown>, options?: Options) {
  const body = { model: 'sandbox-chat', messages: [user('Hello.')], ...request }
  return send('chat', JSON.stringify(body), options)
}

type ChatReply = {
  readonly id: string
  readonly choices: readonly {
    readonly index: number
    readonly finish_reason: string
    readonly message: {
      readonly content: string | null
      readonly tool_calls?: readonly {
        readonly id: string
        readonly function: { readonly name: string; readonly arguments: string }
      }[]
    }
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly total_tokens: number
  }
}

async function chat(request: Record<string, unknown>): Promise<ChatReply> {
  const outcome = await complete(request)
  if (outcome.outcome !== 'answered') throw new Error(outcome.outcome)
  return jsonOf(outcome.body) as ChatReply
}

type EmbeddingsReply = {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[]
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number }
}

async function embed(request: Record<string, unknown>): Promise<EmbeddingsReply> {
  const outcome = await send('embeddings', JSON.stringify({ model: 'sandbox-embedding', ...request }))
  if (outcome.outcome !== 'answered') throw new Error(outcome.outcome)
  return jsonOf(outcome.body) as EmbeddingsReply
}

function jsonOf(body: string): unknown {
  return JSON.parse(body)
}

function user(content: string) {
  return { role: 'user', content }
}

function tool(name: string, properties: Record<string, unknown>) {
  const parameters = { type: 'object', properties, required: Object.keys(properties) }
  return { type: 'function', function: { name, parameters } }
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, axis) => sum + value * b[axis]!, 0)
}

test.each([
  [true, 'Runs inside the gateway.'],
  [false, 'Is switched off by TOLLGATE_SANDBOX: its models are neither listed nor served.'],
])('with the sandbox switched on: %p, a probe gives: %s', async (isSandboxOn, detail) => {
  expect(await probeSandbox({ isSandboxOn })).toEqual({ ok: true, detail })
})
