import { json } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { chatModel } from '../gateways/scripted-gateway.ts'

/** A text route as its clients and its upstreams see it, for tests of all routes. */
export type TextRouteCase = {
  readonly title: string
  readonly path: string
  readonly model: string
  readonly request: Readonly<Record<string, unknown>>
  /** The upstream path. */
  readonly upstreamPath: string
  /** A good answer of the upstream with this usage, or without usage for null. */
  answer(counts: Counts | null): Reply
  /** Output is never charged, because there is only input. */
  readonly isInputOnly?: true
  /** Errors have the shape that the Anthropic SDKs expect. */
  readonly isMessages?: true
  /** An identical request gets the answer of the first one. */
  readonly isReplayed: boolean
}

export type Counts = { readonly input: unknown; readonly output: unknown }

const CHAT_MODEL = 'gpt-x'
const EMBEDDING_MODEL = 'embed-x'

/** 2 USD per million input tokens and, if there is output, 10 USD per million output tokens. */
export const routeModels: readonly object[] = [
  chatModel(CHAT_MODEL),
  chatModel('off', { enabled: false }),
  chatModel('expensive', { pricing: { input_per_mtok: '0', output_per_mtok: '0', per_request: '1000' } }),
  embeddingModel(EMBEDDING_MODEL, 'main'),
  embeddingModel('off-embed', 'main', { enabled: false }),
  embeddingModel('expensive-embed', 'main', { pricing: { input_per_mtok: '0', per_request: '1000' } }),
  // Each has an upstream that does not serve the route.
  chatModel('elsewhere', { upstreams: [{ provider: 'embeds-only', model: 'x' }] }),
  embeddingModel('elsewhere-embed', 'chats-only'),
]

/** These upstreams are never called. */
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

/** Every text route except chat, which has its own tests. */
export const textRouteCases: readonly TextRouteCase[] = [responses, messages, streamedMessages, embeddings]

/** A response with this text. */
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

/** A chat completion with this text. */
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
