import { json, type Contents, type Operation, type Paths, type Reply } from './operation.ts'
import { ref, text, usd } from './schema.ts'
import { eventSchema } from './text-schemas.ts'

const HELLO = [{ role: 'user', content: 'Hello' }]
const chatReply = {
  id: 'chatcmpl-sandbox-93383bae',
  object: 'chat.completion',
  model: 'sandbox-chat',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'This is the sandbox, not a model. You' },
      finish_reason: 'length',
    },
  ],
  usage: { prompt_tokens: 6, completion_tokens: 10, total_tokens: 16, cost_usd: '0.000115' },
}
const message = {
  id: 'chatcmpl-sandbox-93383bae',
  type: 'message',
  role: 'assistant',
  model: 'sandbox-chat',
  content: [{ type: 'text', text: 'This is the sandbox, not a model. You' }],
  stop_reason: 'max_tokens',
  stop_sequence: null,
  usage: { input_tokens: 6, output_tokens: 10, cost_usd: '0.000115' },
}
const response = {
  id: 'resp_sandbox_93383bae',
  object: 'response',
  status: 'completed',
  model: 'sandbox-chat',
  output: [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'This is the sandbox.' }] },
  ],
  usage: { input_tokens: 6, output_tokens: 10, total_tokens: 16, cost_usd: '0.000115' },
}
const embedding = {
  object: 'list',
  model: 'sandbox-embed',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
  usage: { prompt_tokens: 2, total_tokens: 2, cost_usd: '0.00000004' },
}

const eventExamples: Readonly<Record<string, object>> = {
  Chat: {
    data: JSON.stringify({ object: 'chat.completion.chunk', model: 'sandbox-chat', choices: [] }),
  },
  Responses: {
    event: 'response.completed',
    data: JSON.stringify({ type: 'response.completed', response }),
  },
  Messages: { event: 'message_stop', data: JSON.stringify({ type: 'message_stop' }) },
}

const bypass = (brand: string) => ({
  name: `x-${brand}-idempotency`,
  in: 'header' as const,
  description: '`bypass` gets a new answer instead of the answer of an identical earlier request.',
  schema: { type: 'string' },
  example: 'bypass',
})
const idempotencyKey = {
  name: 'idempotency-key',
  in: 'header' as const,
  description: 'A repeat with the same key and the same body gets the first answer again.',
  schema: { type: 'string' },
}

/** The errors of every text route that calls a model. Which of them a request can get depends on its model. */
const errors: Operation['errors'] = [
  'ambiguous_field',
  'route_not_supported',
  'unpriced_feature',
  'unsupported_input',
  'content_policy_violation',
  'insufficient_balance',
  'budget_exceeded',
  'model_not_found',
  'balance_reserved',
  'budget_reserved',
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_requests',
  'rate_limited',
  'upstream_error',
  'books_inconsistent',
  'upstream_timeout',
]

type Headers = NonNullable<Reply['headers']>

const costHeader = (brand: string, description: string): Headers => ({
  [`x-${brand}-cost-usd`]: { description, schema: usd },
})
const replayHeader = (brand: string): Headers => ({
  [`x-${brand}-replay`]: { description: 'The answer of an identical earlier request.', schema: text },
})

type Text = Pick<Operation, 'id' | 'summary' | 'description'> & {
  readonly name: string
  readonly headers: Headers
  readonly request: object
  readonly reply: object
}

/** The five text routes. `brand` is the word in the names of headers. */
export function textPaths(brand: string): Paths {
  return {
    '/v1/chat/completions': { post: replayed(chat, brand) },
    '/v1/responses': { post: replayed(responses, brand) },
    '/v1/embeddings': { post: replayed(embeddings, brand) },
    '/v1/messages': { post: messages(brand) },
    '/v1/messages/count_tokens': { post: countTokens },
  }
}

const chat = {
  id: 'createChatCompletion',
  name: 'Chat',
  summary: 'Chat',
  description: 'The bytes of the reply are those of the provider, except for `model` and `usage.cost_usd`.',
  request: { model: 'sandbox-chat', max_tokens: 10, messages: HELLO },
  reply: chatReply,
}
const responses = {
  id: 'createResponse',
  name: 'Responses',
  summary: 'Responses',
  request: { model: 'sandbox-chat', input: 'Hello' },
  reply: response,
}
const embeddings = {
  id: 'createEmbedding',
  name: 'Embeddings',
  summary: 'Embeddings',
  request: { model: 'sandbox-embed', input: 'Hello' },
  reply: embedding,
}

/** A route with replays. */
function replayed(route: Omit<Text, 'headers'>, brand: string): Operation {
  const headers = {
    ...costHeader(brand, 'What the request cost. Streams and replays do not have it.'),
    ...replayHeader(brand),
  }
  return { ...operation({ ...route, headers }), parameters: [bypass(brand), idempotencyKey] }
}

/** The error of a native upstream that asks its clients to wait. */
const OVERLOADED = {
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded', param: null },
}

function messages(brand: string): Operation {
  return {
    ...operation({
      id: 'createMessage',
      name: 'Messages',
      summary: 'Messages, as the Anthropic SDKs send them',
      request: { model: 'sandbox-chat', max_tokens: 10, messages: HELLO },
      reply: message,
      headers: costHeader(brand, 'What the request cost. Streams do not have it.'),
    }),
    style: 'messages',
    errors: [...errors, 'thread_unsupported_request'],
    otherErrors: { 529: { schema: ref('MessagesError'), examples: { overloaded: OVERLOADED } } },
    parameters: [
      {
        name: 'anthropic-version',
        in: 'header',
        description: 'Passed on to native upstreams.',
        schema: text,
        example: '2023-06-01',
      },
      {
        name: 'anthropic-beta',
        in: 'header',
        description: 'Passed on to native upstreams, as far as the operator allows.',
        schema: text,
      },
    ],
  }
}

const countTokens: Operation = {
  id: 'countTokens',
  summary: 'Estimate the input tokens of a Messages request',
  description: 'Free. The number is an estimate from the number of characters.',
  tag: 'Text',
  access: 'customer',
  body: {
    isRequired: true,
    content: json(
      { $ref: '#/components/schemas/CountTokensRequest' },
      { message: { model: 'sandbox-chat', messages: HELLO } },
    ),
  },
  replies: {
    200: {
      description: 'The estimate.',
      content: json({ $ref: '#/components/schemas/TokenCount' }, { estimate: { input_tokens: 6 } }),
    },
  },
  errors: ['ambiguous_field', 'model_not_found', 'thread_unsupported_request'],
  style: 'messages',
}

function operation({ name, request, reply, headers, ...rest }: Text): Operation {
  const schema = (suffix: string) => ({ $ref: `#/components/schemas/${name}${suffix}` })
  const whole: Contents = json(schema('Reply'), { answer: reply })
  const event = eventSchema(name)
  const streamed: Contents | undefined = event && {
    'text/event-stream': {
      schema: event,
      examples: { event: eventExamples[name] },
    },
  }
  return {
    ...rest,
    tag: 'Text',
    access: 'customer',
    body: { isRequired: true, content: json(schema('Request'), { request }) },
    replies: { 200: { description: 'The answer.', content: { ...whole, ...streamed }, headers } },
    errors,
    style: 'text',
  }
}
