import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { nextOf } from '../../../test/support/next-of.ts'
import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import type { UpstreamStream, StreamOutcome } from '../../gateway/ports/providers/text-provider.ts'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { sandbox } from './sandbox.ts'
import { countTokens } from './sandbox-text.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

afterEach(() => {
  expect(clock.waiting).toBe(0)
})

describe('a chat stream', () => {
  test('a chat stream has the role, then the text of the JSON answer, the finish reason and [DONE]', async () => {
    const whole = await json({})
    const { frames, end } = await chat({})

    expect(frames[0]).toMatchObject({
      id: whole.id,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    })
    expect(contentOf(frames)).toBe(whole.choices[0]!.message.content!)
    expect(frames.at(-2)).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    expect(frames.at(-1)).toBe('[DONE]')
    expect(end).toEqual({ end: 'ended' })
  })

  test('a chat stream has no usage if none was requested', async () => {
    const { frames } = await chat({})

    expect(frames.filter(frame => typeof frame === 'object' && 'usage' in frame)).toEqual([])
  })

  test('a chat stream ends with the usage of the JSON answer in a frame without choices, if it was requested', async () => {
    const whole = await json(WITH_USAGE)
    const { frames } = await chat(WITH_USAGE)

    expect(frames.at(-2)).toMatchObject({ choices: [], usage: whole.usage })
    expect(frames.slice(0, -2).every(frame => typeof frame === 'object' && frame.usage === null)).toBe(true)
  })

  test('a chat stream has reasoning before the text, and a refusal instead of the text', async () => {
    const reasoned = await chat({ sandbox: { reasoning: 'Two and two.', reply: 'Four.' } })
    const refused = await chat({ sandbox: { refusal: 'No, thanks.' } })

    expect(joined(reasoned.frames, 'reasoning_content')).toBe('Two and two.')
    expect(contentOf(reasoned.frames)).toBe('Four.')
    expect(joined(refused.frames, 'refusal')).toBe('No, thanks.')
  })

  test('a chat stream begins a tool call with its name and continues it with its arguments', async () => {
    const parameters = { type: 'object', properties: { zone: { const: 'UTC' } } }
    const tools = ['get_time', 'get_zone'].map(name => ({ type: 'function', function: { name, parameters } }))
    const { frames } = await chat({ tools, messages: [{ role: 'user', content: 'get_time and get_zone' }] })

    const calls = frames.flatMap(frame => deltaOf(frame).tool_calls ?? [])
    const opened = calls.filter(call => call.id !== undefined)
    expect(opened).toMatchObject([
      { index: 0, type: 'function', function: { name: 'get_time', arguments: '' } },
      { index: 1, type: 'function', function: { name: 'get_zone', arguments: '' } },
    ])
    const filled = [0, 1].map(index =>
      calls.flatMap(call => (call.index === index ? [call.function.arguments] : [])).join(''),
    )
    expect(filled.map(text => JSON.parse(text) as unknown)).toEqual([{ zone: 'UTC' }, { zone: 'UTC' }])
    expect(frames.at(-2)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  })

  test('a chat stream contains several choices in alternating frames', async () => {
    const request = { n: 2, sandbox: { reply: 'one two three', pace_ms: 0 } }
    const { frames } = await chat(request)

    const indexes = frames.map(frame => (typeof frame === 'object' ? frame.choices[0]?.index : undefined))
    expect(indexes).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, undefined])
    expect(contentOf(frames, 0)).toBe('one two three')
    expect(contentOf(frames, 1)).toBe('one two three')
  })

  test('a chat stream sends the first frame at once, and the others at its pace', async () => {
    const body = opened(await stream({ sandbox: { pace_ms: 20 } }))
    expect(await nextOf(body)).toBeInstanceOf(Uint8Array)
    const second = nextOf(body)

    clock.advance(19)
    expect(clock.waiting).toBe(1)
    clock.advance(1)

    expect(await second).toBeInstanceOf(Uint8Array)
    body.cancel()
  })

  test('a chat stream has a default pace', async () => {
    const body = opened(await stream({ sandbox: { pace_ms: undefined } }))
    await nextOf(body)
    const second = nextOf(body)

    expect(clock.waiting).toBe(1)
    body.cancel()
    expect(await second).toEqual({ end: 'aborted' })
  })
})

describe('a requested fault of a stream:', () => {
  const reply = 'one two three four'

  test.each<[Record<string, unknown>, number, object, unknown]>([
    [
      { break_after: 3 },
      3,
      { end: 'broken', reason: 'ECONNRESET' },
      { choices: [{ delta: { content: ' two' } }] },
    ],
    [{ break_after: 0 }, 0, { end: 'broken', reason: 'ECONNRESET' }, undefined],
    [{ no_done: true }, 6, { end: 'ended' }, { choices: [{ finish_reason: 'stop' }] }],
    [{ error_frame_after: 2 }, 3, { end: 'ended' }, { error: { type: 'sandbox_error' } }],
    [
      { error_frame_after: 1, error: { message: 'Overloaded.' } },
      2,
      { end: 'ended' },
      { error: { message: 'Overloaded.' } },
    ],
    [{ no_usage: true }, 7, { end: 'ended' }, '[DONE]'],
    [{ usage: null }, 7, { end: 'ended' }, '[DONE]'],
  ])('a stream has the fault that its request asks for: %j', async (options, count, end, last) => {
    const result = await chat({ ...WITH_USAGE, sandbox: { reply, ...options } })

    expect(result.end).toEqual(end as typeof result.end)
    const frames = 'no_done' in options ? result.frames.slice(0, -1) : result.frames
    expect(frames).toHaveLength(count)
    if (last !== undefined) expect([frames.at(-1)]).toMatchObject([last])
  })

  test('silence ends at the idle limit', async () => {
    const body = opened(await stream({ sandbox: { silent_after: 1 } }))
    expect(await nextOf(body)).toBeInstanceOf(Uint8Array)
    const pending = nextOf(body)

    clock.advance(60_000)

    expect(await pending).toEqual({ end: 'idle' })
    expect(await nextOf(body)).toEqual({ end: 'idle' })
  })

  test('a pace slower than the idle limit ends at that limit', async () => {
    const body = opened(await stream({ sandbox: { pace_ms: 60_000 } }))
    await nextOf(body)
    const pending = nextOf(body)

    clock.advance(60_000)

    expect(await pending).toEqual({ end: 'idle' })
  })

  test('the usage is on the last frame with choices, requested or not', async () => {
    const { frames } = await chat({ sandbox: { reply, usage_in_last_choice: true } })

    expect(frames.at(-2)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { completion_tokens: countTokens(reply) },
    })
  })

  test('a cumulative usage grows with each frame up to the total', async () => {
    const { frames } = await chat({ sandbox: { reply, cumulative_usage: true } })

    const tokens = frames.map(frame =>
      typeof frame === 'object' ? frame.usage?.completion_tokens : undefined,
    )
    expect(tokens).toEqual([0, 1, 2, 3, 4, 4, undefined])
  })

  test('pieces of a few bytes add up to the same bytes', async () => {
    const whole = await drain(opened(await stream({ sandbox: { reply: 'naïve 😀', pace_ms: 0 } })))
    const pieces = await drain(
      opened(await stream({ sandbox: { reply: 'naïve 😀', pace_ms: 0, chunk_bytes: 3 } })),
    )

    // The id depends on the options.
    expect(contentOf(framesOf(pieces.text))).toBe(contentOf(framesOf(whole.text)))
    expect(pieces.lengths.slice(0, -1).every(length => length === 3)).toBe(true)
  })

  test('a connection cut in the middle of a frame is broken', async () => {
    const { text, end } = await drain(opened(await stream({ sandbox: { fail: 'cut', pace_ms: 0 } })))

    expect(end).toEqual({ end: 'broken', reason: 'ECONNRESET' })
    expect(text).not.toEndWith('\n\n')
    expect(text).toContain('"role":"assistant"')
  })

  test('a malformed frame ends the stream without [DONE]', async () => {
    const { text, end } = await drain(opened(await stream({ sandbox: { fail: 'broken_json', pace_ms: 0 } })))

    expect(end).toEqual({ end: 'ended' })
    expect(() => JSON.parse(text.trim().split('\n\n').at(-1)!.slice('data: '.length)) as unknown).toThrow()
    expect(text).not.toContain('[DONE]')
  })

  test('a body is streamed byte for byte', async () => {
    const body = ': hello\r\n\r\ndata: {"a":1}'

    expect(await drain(opened(await stream({ sandbox: { body } })))).toMatchObject({
      text: body,
      end: { end: 'ended' },
    })
  })

  test.each<[Record<string, unknown>, object]>([
    [{ fail: 'refused' }, { outcome: 'unreachable', reason: 'ECONNREFUSED' }],
    [{ fail: 'reset' }, { outcome: 'unreachable', reason: 'ECONNRESET' }],
    [{ fail: 'html' }, { outcome: 'answered', status: 200, contentType: 'text/html' }],
    [
      { status: 503, retry_after_s: 1 },
      { outcome: 'answered', status: 503, retryAfter: { text: '1', delayMs: 1000 } },
    ],
    [{ stauts: 503 }, { outcome: 'answered', status: 400 }],
  ])('%j takes effect before the stream opens', async (options, expected) => {
    expect(await stream({ sandbox: options })).toMatchObject(expected)
  })

  test('silence before the headers ends at the read limit', async () => {
    const pending = stream({ sandbox: { fail: 'hang' } })

    clock.advance(300_000)

    expect(await pending).toEqual({ outcome: 'timed_out' })
  })
})

describe('giving up a stream', () => {
  test.each(['cancel', 'abort'] as const)('giving up a stream by %s ends a pending read', async way => {
    const caller = new AbortController()
    const body = opened(await stream({ sandbox: { silent_after: 0 } }, caller.signal))
    const pending = nextOf(body)

    if (way === 'cancel') body.cancel()
    else caller.abort()

    expect(await pending).toEqual({ end: 'aborted' })
    expect(await nextOf(body)).toEqual({ end: 'aborted' })
  })

  test('giving up a stream after its end changes nothing', async () => {
    const body = opened(await stream({ sandbox: { pace_ms: 0 } }))
    await drain(body)

    body.cancel()

    expect(await nextOf(body)).toEqual({ end: 'ended' })
  })
})

test('embeddings do not stream', async () => {
  const outcome = await send('embeddings', { input: 'x', stream: true })

  expect(outcome).toMatchObject({ outcome: 'answered', status: 200 })
})

const WITH_USAGE = { stream_options: { include_usage: true } }

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

const MESSAGES = [{ role: 'user', content: 'Hello.' }]

function send(route: TextRoute, request: Record<string, unknown>, signal?: AbortSignal) {
  const body = JSON.stringify({ model: 'sandbox-chat', ...request })
  const limits = { readTimeoutMs: 300_000, idleTimeoutMs: 60_000 }
  return sandbox({ clock }).stream({ provider: PROVIDER, route, model: 'm', body, ...limits }, signal)
}

function stream(request: Record<string, unknown>, signal?: AbortSignal): Promise<StreamOutcome> {
  return send('chat', { messages: MESSAGES, stream: true, ...request }, signal)
}

function opened(outcome: StreamOutcome): UpstreamStream {
  if (outcome.outcome !== 'opened') throw new Error(`not opened but ${outcome.outcome}`)
  return outcome.body
}

async function drain(body: UpstreamStream) {
  const parts: Uint8Array[] = []
  for (;;) {
    const read = await nextOf(body)
    if (read instanceof Uint8Array) parts.push(read)
    else return { text: Buffer.concat(parts).toString(), lengths: parts.map(part => part.length), end: read }
  }
}

type Delta = {
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly refusal?: string
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id?: string
    readonly function: { readonly arguments: string }
  }[]
}
type Frame =
  | '[DONE]'
  | {
      readonly choices: readonly { readonly index: number; readonly delta: Delta }[]
      readonly usage?: { readonly completion_tokens: number } | null
    }

/** A stream played to its end without a pace. */
async function chat(request: Record<string, unknown> & { readonly sandbox?: object }) {
  const { text, end } = await drain(
    opened(await stream({ ...request, sandbox: { pace_ms: 0, ...request.sandbox } })),
  )
  return { frames: framesOf(text), end }
}

function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter(frame => frame !== '')
    .map(frame => frame.replace(/^data: /, ''))
    .map(data => (data === '[DONE]' ? data : (JSON.parse(data) as Frame)))
}

/** The JSON answer to the same request. */
async function json(request: Record<string, unknown>) {
  const paced = { ...request, sandbox: { pace_ms: 0 } }
  const body = JSON.stringify({ model: 'sandbox-chat', messages: MESSAGES, ...paced })
  const call = { provider: PROVIDER, route: 'chat', model: 'm', body, readTimeoutMs: 60_000 } as const
  const outcome = await sandbox({ clock }).complete(call)
  if (outcome.outcome !== 'answered') throw new Error(outcome.outcome)
  return JSON.parse(outcome.body) as {
    readonly id: string
    readonly choices: readonly { readonly message: { readonly content: string | null } }[]
    readonly usage: object
  }
}

function deltaOf(frame: Frame, index?: number): Delta {
  if (frame === '[DONE]') return {}
  const choice = frame.choices.find(choice => index === undefined || choice.index === index)
  return choice?.delta ?? {}
}

function contentOf(frames: readonly Frame[], index?: number): string {
  return joined(frames, 'content', index)
}

function joined(
  frames: readonly Frame[],
  part: 'content' | 'reasoning_content' | 'refusal',
  index?: number,
): string {
  return frames.map(frame => deltaOf(frame, index)[part] ?? '').join('')
}
