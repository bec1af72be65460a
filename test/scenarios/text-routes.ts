import { json } from '../support/upstream-replies.ts'
import type { Reply } from '../support/upstream.ts'
import { chatModel } from './scripted-gateway.ts'

/** A text route as its clients and its upstreams see it, for tables that walk all of them. */
export type TextRouteCase = {
  readonly title: string
  readonly path: string
  readonly model: string
  readonly request: Readonly<Record<string, unknown>>
  /** Where it goes upstream. */
  readonly upstreamPath: string
  /** A good answer of the upstream, with these counts in the upstream's own words; null leaves the usage out. */
  answer(counts: Counts | null): Reply
  /** What the model says is never charged: there is only input. */
  readonly isInputOnly?: true
  /** Errors have the shape that the Anthropic SDKs expect. */
  readonly isMessages?: true
  /** An identical request gets the first one's answer. */
  readonly isReplayed: boolean
}

export type Counts = { readonly input: unknown; readonly output: unknown }

const CHAT_MODEL = 'gpt-x'
const EMBEDDING_MODEL = 'embed-x'

/** Two dollars a million tokens in and, where there is output, ten out. */
export const routeModels: readonly object[] = [
  chatModel(CHAT_MODEL),
  chatModel('off', { enabled: false }),
  chatModel('dear', { pricing: { input_per_mtok: '0', output_per_mtok: '0', per_request: '1000' } }),
  embeddingModel(EMBEDDING_MODEL, 'main'),
  embeddingModel('off-embed', 'main', { enabled: false }),
  embeddingModel('dear-embed', 'main', { pricing: { input_per_mtok: '0', per_request: '1000' } }),
  // Each on an upstream that has none of the routes they are called on.
  chatModel('elsewhere', { upstreams: [{ provider: 'embeds-only', model: 'x' }] }),
  embeddingModel('elsewhere-embed', 'chats-only'),
]

/** Nobody ever asks them. */
export const routeProviders: readonly object[] = [
  { id: 'embeds-only', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', routes: ['embeddings'] },
  { id: 'chats-only', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', routes: ['chat'] },
]

function embeddingModel(id: string, provider: string, change: object = {}): object {
  return {
    id,
    kind: 'embedding',
    upstreams: [{ provider, model: `${id}-upstream` }],
    pricing: { input_per_mtok: '2' },
    context_window: 100_000,
    ...change,
  }
}

const HI = [{ role: 'user', content: 'Hi' }]

const responses: TextRouteCase = {
  title: 'responses',
  path: '/v1/responses',
  model: CHAT_MODEL,
  request: { input: 'Hi' },
  upstreamPath: '/v1/responses',
  answer: counts => responseAnswer('Hello.', counts),
  isReplayed: true,
}

const messages: TextRouteCase = {
  title: 'messages',
  path: '/v1/messages',
  model: CHAT_MODEL,
  request: { messages: HI, max_tokens: 100 },
  upstreamPath: '/v1/chat/completions',
  answer: counts => chatCompletion('Hello.', counts),
  isMessages: true,
  isReplayed: false,
}

const streamedMessages: TextRouteCase = {
  ...messages,
  title: 'messages as a stream',
  request: { ...messages.request, stream: true },
}

const embeddings: TextRouteCase = {
  title: 'embeddings',
  path: '/v1/embeddings',
  model: EMBEDDING_MODEL,
  request: { input: 'Hi' },
  upstreamPath: '/v1/embeddings',
  answer: counts =>
    json({
      object: 'list',
      model: 'embed-x-upstream',
      data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
      ...(counts === null ? {} : { usage: { prompt_tokens: counts.input, total_tokens: counts.input } }),
    }),
  isInputOnly: true,
  isReplayed: true,
}

/** Every text route but chat, which has tables of its own. */
export const textRouteCases: readonly TextRouteCase[] = [responses, messages, streamedMessages, embeddings]

/** A response that says `text`. */
export function responseAnswer(text: string, counts: Counts | null): Reply {
  return json({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-x-upstream',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    ...(counts === null ? {} : { usage: { input_tokens: counts.input, output_tokens: counts.output } }),
  })
}

/** A chat completion that says `text`. */
export function chatCompletion(text: string, counts: Counts | null): Reply {
  return json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-x-upstream',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    ...(counts === null ? {} : { usage: { prompt_tokens: counts.input, completion_tokens: counts.output } }),
  })
}
