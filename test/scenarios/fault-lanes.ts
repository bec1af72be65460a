import { DONE, delta, finish, usage } from './stream-frames.ts'

/** A way into the gateway, and what its upstream and its client see of it, for the table of faults. */
export type Lane = {
  readonly title: string
  readonly path: string
  readonly kind: 'chat' | 'embedding'
  readonly request: Readonly<Record<string, unknown>>
  /** What the upstream is asked for. A stream of messages is made of an answer in JSON. */
  readonly upstreamSends: 'json' | 'stream'
  /** A good answer in which `word` stands, whose first part is the three letters of `FIRST`: one part for JSON, a frame each for a stream. */
  readonly answer: (word: string) => readonly string[]
  /** An answer that says nothing, which used two tokens. */
  readonly empty: readonly string[]
  /** What `answer` costs, what `empty` costs, and what a client pays of whom only the first part has reached. */
  readonly costs: { readonly answer: string; readonly empty: string; readonly firstPart: string }
  /** Whether an empty answer sends the gateway on to the next upstream. */
  readonly isEmptyRetried: boolean
  /** Whether a reply looks like one that is whole. */
  readonly looksWhole: (reply: string) => boolean
  /** The code of the error that ends a broken reply; undefined for one that has none at its end. */
  readonly errorAtEnd: (reply: string) => string | undefined
  /** Refusals are in the shape that messages-style libraries read. */
  readonly isMessages: boolean
}

/** What the first frame of a stream says: a token. */
export const FIRST = 'Hel'

const CHAT = { messages: [{ role: 'user', content: 'Hi' }] }
/** Two dollars a million in, ten out: ten tokens in and five out, or two; "Hel" to a request of five tokens. */
const CHAT_COSTS = { answer: '0.00007', empty: '0.00004', firstPart: '0.00002' }

const jsonLane = {
  upstreamSends: 'json',
  looksWhole: isJsonWithoutError,
  errorAtEnd: () => undefined,
  isMessages: false,
} as const

const chat: Lane = {
  ...jsonLane,
  title: 'chat',
  path: '/v1/chat/completions',
  kind: 'chat',
  request: CHAT,
  answer: word => [chatCompletion(`${FIRST}, ${word}`, 5)],
  empty: [chatCompletion('', 2)],
  costs: CHAT_COSTS,
  isEmptyRetried: true,
}

const chatStream: Lane = {
  ...chat,
  title: 'chat as a stream',
  request: { ...CHAT, stream: true },
  upstreamSends: 'stream',
  answer: word => [delta({ content: FIRST }), delta({ content: word }), finish(), usageOf(5), DONE],
  empty: [finish(), usageOf(2), DONE],
  isEmptyRetried: false,
  looksWhole: reply => reply.endsWith(DONE) && !reply.includes('"error"'),
  errorAtEnd: reply => (reply.includes(DONE) ? undefined : lastFrame(reply)?.error?.code),
}

const chatStreamWithUsage: Lane = {
  ...chatStream,
  title: 'chat as a stream with its usage',
  request: { ...CHAT, stream: true, stream_options: { include_usage: true } },
  looksWhole: reply => chatStream.looksWhole(reply) && reply.includes('"cost_usd"'),
}

const responses: Lane = {
  ...jsonLane,
  title: 'responses',
  path: '/v1/responses',
  kind: 'chat',
  request: { input: 'Hi' },
  answer: word => [JSON.stringify(response(`${FIRST}, ${word}`, 5))],
  empty: [JSON.stringify(response('', 2))],
  // A request of two tokens.
  costs: { ...CHAT_COSTS, firstPart: '0.000014' },
  isEmptyRetried: false,
}

const responsesStream: Lane = {
  ...responses,
  title: 'responses as a stream',
  request: { input: 'Hi', stream: true },
  upstreamSends: 'stream',
  answer: word => [
    event('response.output_text.delta', { output_index: 0, delta: FIRST }),
    event('response.output_text.delta', { output_index: 0, delta: word }),
    event('response.completed', { response: response(`${FIRST}${word}`, 5) }),
  ],
  empty: [event('response.completed', { response: response('', 2) })],
  looksWhole: reply => lastFrame(reply)?.type === 'response.completed',
  errorAtEnd: reply => {
    const last = lastFrame(reply)
    return last?.type === 'response.failed' ? last.response?.error?.code : undefined
  },
}

const messages: Lane = {
  ...chat,
  title: 'messages',
  path: '/v1/messages',
  request: { ...CHAT, max_tokens: 100 },
  looksWhole: reply => isJsonWithoutError(reply) && reply.includes('"stop_reason"'),
  isMessages: true,
}

const messagesStream: Lane = {
  ...messages,
  title: 'messages as a stream',
  request: { ...messages.request, stream: true },
  looksWhole: reply => reply.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n'),
}

const embeddings: Lane = {
  ...jsonLane,
  title: 'embeddings',
  path: '/v1/embeddings',
  kind: 'embedding',
  request: { input: 'Hi' },
  answer: word => [
    embeddingList([{ object: 'embedding', index: 0, embedding: [0.25] }], `${FIRST}, ${word}`),
  ],
  empty: [embeddingList([], '')],
  // There is only input.
  costs: { answer: '0.00002', empty: '0.00002', firstPart: '0' },
  isEmptyRetried: false,
}

export const lanes: readonly Lane[] = [
  chat,
  chatStream,
  chatStreamWithUsage,
  responses,
  responsesStream,
  messages,
  messagesStream,
  embeddings,
]

function chatCompletion(content: string, outputTokens: number): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: outputTokens },
  })
}

function usageOf(outputTokens: number): string {
  return usage({ prompt_tokens: 10, completion_tokens: outputTokens })
}

function response(text: string, outputTokens: number): object {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'upstream-model',
    output: text === '' ? [] : [{ type: 'message', id: 'msg_1', role: 'assistant', content }],
    usage: { input_tokens: 10, output_tokens: outputTokens },
  }
}

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

function embeddingList(data: readonly object[], note: string): string {
  return JSON.stringify({ object: 'list', model: 'upstream-model', data, note, usage: { prompt_tokens: 10 } })
}

function isJsonWithoutError(reply: string): boolean {
  const value = JSON.parse(reply) as object
  return !('error' in value)
}

/** What tells how a stream ended, in a frame of either dialect. */
type LastFrame = {
  readonly error?: { readonly code: string }
  readonly type?: string
  readonly response?: { readonly error?: { readonly code: string } | null }
}

/** The JSON of the last frame of a stream; undefined where it is none. */
function lastFrame(stream: string): LastFrame | undefined {
  const data = stream.trimEnd().split('data: ').at(-1) ?? ''
  try {
    return JSON.parse(data) as LastFrame
  } catch {
    return undefined
  }
}
