import { DONE, delta, finish, usage } from '../../support/stream-frames.ts'

/** A route of the gateway, and what its upstream and its client see, for the table of faults. */
export type Lane = {
  readonly title: string
  readonly path: string
  readonly kind: 'chat' | 'embedding'
  readonly request: Readonly<Record<string, unknown>>
  /** What the upstream sends. A Messages stream is built from a JSON answer. */
  readonly upstreamSends: 'json' | 'stream'
  /**
   * A good answer that contains `word`. Its first part is `FIRST`. JSON has one part; a stream has one part per frame.
   */
  readonly answer: (word: string) => readonly string[]
  /** An empty answer that used two tokens. */
  readonly empty: readonly string[]
  /** The cost of `answer`, of `empty`, and of an answer of which the client got only the first part. */
  readonly costs: { readonly answer: string; readonly empty: string; readonly firstPart: string }
  /** Whether an empty answer causes a failover. */
  readonly isEmptyRetried: boolean
  /** Whether a reply looks complete. */
  readonly looksWhole: (reply: string) => boolean
  /** The code of the error at the end of a broken reply. Undefined if there is none. */
  readonly errorAtEnd: (reply: string) => string | undefined
  /** Errors have the shape that the Anthropic SDKs expect. */
  readonly isMessages: boolean
}

/** The text of the first frame of a stream: one token. */
export const FIRST = 'Hel'

const CHAT = { messages: [{ role: 'user', content: 'Hi' }] }
/**
 * At 2 USD (input) and 10 USD (output) per million: 10 and 5 tokens; 10 and 2 tokens; "Hel" for a request of 5 tokens.
 */
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
  title: 'chat as a stream with usage',
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
  // Embeddings have only input.
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

/** The member that has the end of a stream, in both dialects. */
type LastFrame = {
  readonly error?: { readonly code: string }
  readonly type?: string
  readonly response?: { readonly error?: { readonly code: string } | null }
}

/** The JSON of the last frame of a stream. Undefined if it is not JSON. */
function lastFrame(stream: string): LastFrame | undefined {
  const data = stream.trimEnd().split('data: ').at(-1) ?? ''
  try {
    return JSON.parse(data) as LastFrame
  } catch {
    return undefined
  }
}
