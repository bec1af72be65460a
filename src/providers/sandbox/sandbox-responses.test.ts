import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { nextOf } from '../../../test/support/next-of.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
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

const weather = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

describe('a response', () => {
  test('a response is complete, and its usage counts its content', async () => {
    const reply = await respond({ input: 'How are you?' })

    expect(reply).toMatchObject({
      object: 'response',
      created_at: Math.floor(clock.now() / 1000),
      status: 'completed',
      model: 'sandbox-chat',
      error: null,
      incomplete_details: null,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', annotations: [] }],
        },
      ],
    })
    const text = reply.output[0]!.content![0]!.text!
    expect(text).toStartWith('This is the sandbox, not a model. You wrote: "How are you?".')
    expect(reply.usage).toMatchObject({
      output_tokens: countTokens(text),
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: reply.usage!.input_tokens + reply.usage!.output_tokens,
    })
  })

  test('a response answers the last message, and ignores other items and tools', async () => {
    const reply = await respond({
      instructions: 'Be brief.',
      input: [
        { type: 'item_reference', id: 'i_1' },
        { role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'Where to?' }] },
      ],
      tools: [{ type: 'web_search' }, { type: 'namespace', tools: [] }],
      tool_choice: { type: 'web_search' },
    })

    expect(reply.output[0]!.content![0]!.text).toContain('You wrote: "Where to?".')
  })

  test('a response calls the function that the choice forces, and answers its result with text', async () => {
    const question = { role: 'user', content: 'How is it in Oslo?' }
    const tools = [{ type: 'custom', name: 'grep' }, weather]
    const called = await respond({
      input: [question],
      tools,
      tool_choice: { type: 'function', name: 'weather' },
    })
    const [call] = called.output
    const result = { type: 'function_call_output', call_id: call!.call_id, output: 'Rain.' }
    const reported = await respond({ input: [question, call, result], tools })

    expect(called.output).toMatchObject([{ type: 'function_call', name: 'weather', status: 'completed' }])
    expect(JSON.parse(call!.arguments!)).toEqual({ city: expect.any(String) })
    expect(reported.output[0]!.content![0]!.text).toContain('Rain.')
  })

  test('a response has reasoning as its own item, or a refusal instead of text', async () => {
    const reasoned = await respond({ sandbox: { reasoning: 'Two and two.', reply: 'Four.' } })
    const refused = await respond({ sandbox: { refusal: 'No, thanks.' } })

    expect(reasoned.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Two and two.' }] },
      { type: 'message', content: [{ text: 'Four.' }] },
    ])
    expect(reasoned.usage!.output_tokens_details.reasoning_tokens).toBe(countTokens('Two and two.'))
    expect(refused.output[0]!.content).toMatchObject([{ type: 'refusal', refusal: 'No, thanks.' }])
  })

  test('a response matches the schema of its text format', async () => {
    const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
    const reply = await respond({ text: { format: { type: 'json_schema', name: 'person', schema } } })

    expect(JSON.parse(reply.output[0]!.content![0]!.text!)).toEqual({ age: expect.any(Number) })
  })

  test.each([
    [{ max_output_tokens: 3 }, 'max_output_tokens'],
    [{ sandbox: { finish_reason: 'content_filter' } }, 'content_filter'],
  ])('a response cut short by %j is incomplete and gives the reason', async (request, reason) => {
    const reply = await respond(request)

    expect(reply).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason },
      output: [{ type: 'message', status: 'incomplete' }],
    })
  })

  test('a response reports the usage that the request sets, or none', async () => {
    const reported = await respond({ sandbox: { usage: { input_tokens: -1 } } })
    const none = await respond({ sandbox: { usage: null } })

    expect(reported.usage).toEqual({ input_tokens: -1 } as never)
    expect(none.usage).toBeNull()
  })
})

describe('a stream of events', () => {
  test.each([
    ['words', {}],
    ['reasoning and words', { sandbox: { reasoning: 'Two and two.', reply: 'Four.' } }],
    ['a refusal', { sandbox: { refusal: 'No, thanks.' } }],
    ['a call', { tools: [weather], tool_choice: 'required' }],
    ['nothing', { sandbox: { fail: 'empty' } }],
    ['too much', { max_output_tokens: 3 }],
  ])('a stream of events of %s adds up to the JSON answer', async (_what, request) => {
    const unpaced = { ...request, sandbox: { ...('sandbox' in request && request.sandbox), pace_ms: 0 } }
    const whole = await respond(unpaced)
    const { events, end } = await stream(unpaced)

    const last = events.at(-1)!
    const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(last).toMatchObject({ type: `response.${whole.status}`, response: whole })
    expect(items).toEqual(whole.output as unknown[])
    expect(added(events)).toEqual(said(whole))
    expect(end).toEqual({ end: 'ended' })
  })

  test('a stream of events begins with an empty response, and numbers its events', async () => {
    const { events, names } = await stream({})

    const begun = { status: 'in_progress', output: [], usage: null }
    expect(events[0]).toMatchObject({ type: 'response.created', response: begun })
    expect(events[1]).toMatchObject({ type: 'response.in_progress', response: begun })
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(names).toEqual(events.map(({ type }) => type))
  })

  test('a stream of events has no event names if the request does not want them', async () => {
    const { events, names } = await stream({ sandbox: { no_event_names: true } })

    expect(names).toEqual(events.map(() => undefined))
    expect(events.at(-1)!.type).toBe('response.completed')
  })

  test('a stream of events reports an error as an error event', async () => {
    const { events } = await stream({ sandbox: { error_frame_after: 3, error: { message: 'Too much.' } } })

    expect(events).toHaveLength(4)
    expect(events[3]).toMatchObject({
      type: 'error',
      code: null,
      message: 'Too much.',
      param: null,
      sequence_number: 3,
    })
  })

  test('a stream of events breaks after the requested number of events', async () => {
    const { events, end } = await stream({ sandbox: { break_after: 2 } })

    expect(events).toHaveLength(2)
    expect(end).toEqual({ end: 'broken', reason: 'ECONNRESET' })
  })
})

test.each<[Record<string, unknown>, string]>([
  [{ input: 7 }, 'input'],
  [{ input: ['hello'] }, 'input.0'],
  [{ input: [{ type: 7 }] }, 'input.0.type'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ tools: [{}] }, 'tools.0.type'],
  [{ tool_choice: 7 }, 'tool_choice'],
  [{ text: { format: {} } }, 'text.format.type'],
  [{ sandbox: { stauts: 500 } }, 'sandbox.stauts'],
])('the invalid request %j gets a 400 that names the field', async (request, param) => {
  const outcome = await sandbox({ clock }).complete({ ...call(request), readTimeoutMs: 1_000 })

  expect(outcome).toMatchObject({ outcome: 'answered', status: 400 })
  expect(outcome.outcome === 'answered' && JSON.parse(outcome.body)).toMatchObject({
    error: { param },
  })
})

const PROVIDER: Provider = {
  id: 'sandbox',
  kind: 'sandbox',
  secret: { from: 'none' },
  headers: {},
  routes: ['responses'],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}

type Item = {
  readonly type: string
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[]
  readonly summary?: readonly { readonly text: string }[]
  readonly call_id?: string
  readonly arguments?: string
}
type Response = {
  readonly status: string
  readonly output: readonly Item[]
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly output_tokens_details: { readonly reasoning_tokens: number }
  } | null
}
type Event = {
  readonly type: string
  readonly sequence_number: number
  readonly delta?: string
  readonly item?: unknown
  readonly response?: Response
}

function call(request: Record<string, unknown>) {
  const body = JSON.stringify({ model: 'sandbox-chat', input: 'Hello.', ...request })
  return { provider: PROVIDER, route: 'responses', model: 'sandbox-chat', body } as const
}

async function respond(request: Record<string, unknown>): Promise<Response> {
  const outcome = await sandbox({ clock }).complete({ ...call(request), readTimeoutMs: 60_000 })
  if (outcome.outcome !== 'answered') throw new Error(outcome.outcome)
  return JSON.parse(outcome.body) as Response
}

/** A stream played to its end without a pace. */
async function stream(request: Record<string, unknown> & { readonly sandbox?: object }) {
  const unpaced = { ...request, sandbox: { pace_ms: 0, ...request.sandbox } }
  const outcome = await sandbox({ clock }).stream({
    ...call(unpaced),
    readTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
  })
  if (outcome.outcome !== 'opened') throw new Error(outcome.outcome)
  let text = ''
  for (;;) {
    const piece = await nextOf(outcome.body)
    if (!(piece instanceof Uint8Array)) return { ...read(text), end: piece }
    text += new TextDecoder().decode(piece)
  }
}

function read(text: string) {
  const frames = text.split('\n\n').filter(frame => frame !== '')
  return {
    names: frames.map(frame => /^event: (.*)\n/.exec(frame)?.[1]),
    events: frames.map(frame => JSON.parse(frame.replace(/^(?:event: .*\n)?data: /, '')) as Event),
  }
}

function added(events: readonly Event[]): string {
  return events.map(({ delta }) => delta ?? '').join('')
}

function said({ output }: Response): string {
  return output
    .map(({ content = [], summary = [], arguments: args = '' }) => {
      const spoken = content.map(({ text, refusal }) => text ?? refusal)
      return [...summary.map(({ text }) => text), ...spoken, args].join('')
    })
    .join('')
}
