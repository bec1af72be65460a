import { messageRoles } from '../../protocol/messages/conversation.ts'
import {
  about,
  always,
  anything,
  count,
  flag,
  listOf,
  nullable,
  object,
  open,
  text,
  usd,
  words,
  type Members,
  type Schema,
} from './schema.ts'

const model = about('A name from `GET /v1/models`.', { type: 'string', minLength: 1 })
const stream = about('True streams the answer as server-sent events.', nullable(flag))
const ceiling = about(
  'The output ceiling in tokens. Default: that of the model.',
  nullable({ type: 'integer', minimum: 1 }),
)
/** Passed on too. The provider checks the values. */
export const user: Members = {
  user: about('The end user, which is kept with the charge.', anything),
  safety_identifier: about('Counts as the end user instead of `user`.', anything),
}
/** The provider checks the value. */
const forProvider = (description: string): Schema => about(description, anything)
const list: Schema = { type: 'array', items: anything }
const textOrList: Schema = { anyOf: [text, list] }
/** `usage` of a reply passes through, with the cost added. A provider may send any value. */
const usage: Schema = {
  anyOf: [
    open({}, { cost_usd: about('What the request cost. Absent if the reply names no cost.', usd) }),
    { type: ['array', 'string', 'number', 'boolean', 'null'] },
  ],
}

/** The fields of a Messages request, and how they are converted. */
const conversation = {
  required: { messages: { type: 'array', items: open({ role: words(messageRoles) }) } },
  optional: {
    system: nullable(textOrList),
    tools: nullable(listOf(open({}))),
    tool_choice: nullable(open({})),
    temperature: forProvider('Passed on.'),
    top_p: forProvider('Passed on.'),
    metadata: forProvider('Passed on. Its `user_id` is kept with the charge.'),
    stop_sequences: nullable(listOf(text)),
    output_config: forProvider('Its `format` is carried by live streams and native upstreams.'),
    thread: forProvider('Only for models with a native upstream.'),
  },
} as const satisfies Readonly<Record<string, Members>>

export const textSchemas: Members = {
  ChatRequest: about(
    'Every other field is passed on to the provider.',
    open(
      { model, messages: list },
      {
        stream,
        stream_options: nullable(
          open(
            {},
            { include_usage: about('True ends a stream with its usage and its cost.', nullable(flag)) },
          ),
        ),
        max_tokens: ceiling,
        max_completion_tokens: about('Like `max_tokens`. The larger of the two counts.', ceiling),
        n: about('The number of choices.', nullable({ type: 'integer', minimum: 1, maximum: 128 })),
        ...user,
      },
    ),
  ),
  ChatReply: open({}, { model: text, usage }),
  ResponsesRequest: about(
    'Every other field is passed on to the provider.',
    open(
      { model, input: textOrList },
      {
        stream,
        max_output_tokens: ceiling,
        ...user,
        background: about('Must not be true.', nullable(always(false))),
        previous_response_id: forProvider('Stored context of the provider.'),
        conversation: forProvider('Stored context of the provider.'),
        prompt: forProvider('Stored context of the provider.'),
      },
    ),
  ),
  ResponsesReply: open({}, { model: text, usage }),
  EmbeddingsRequest: about(
    'Every other field is passed on to the provider.',
    open(
      { model, input: textOrList },
      { stream: about('Must not be true.', nullable(always(false))), ...user },
    ),
  ),
  EmbeddingsReply: open({}, { model: text, usage }),
  MessagesRequest: about(
    'Fields without an equivalent in chat are dropped, unless a native upstream of the model gets the request.',
    open(
      { model, ...conversation.required },
      {
        ...conversation.optional,
        max_tokens: ceiling,
        stream,
        inference_geo: forProvider('Only for models with a native upstream.'),
        fallbacks: forProvider('Only an empty list, because fallback models have no price.'),
        mcp_servers: forProvider('Only for models with a native upstream.'),
        speed: forProvider('Only for models with a native upstream: `standard`.'),
      },
    ),
  ),
  CountTokensRequest: about(
    'Takes the body of a Messages request.',
    open({ model, ...conversation.required }, conversation.optional),
  ),
  MessagesReply: open({}, { model: text, usage }),
  TokenCount: object({ input_tokens: about('An estimate.', count) }),
}

/** The JSON in the `data` of each event. `[DONE]` is not JSON. */
const frames: Readonly<Record<string, Schema>> = {
  Chat: about(
    'A chunk of the provider, or an error that ends the stream.',
    open({}, { usage, error: nullable(open({})) }),
  ),
  Responses: about(
    'An event of the provider, or a `response.failed` event that ends the stream.',
    open({}, { type: text }),
  ),
  Messages: about('An event of a message, or an `error` event that ends the stream.', open({ type: text })),
}

/** The schema of each event of a route's streams, by the name of the route; undefined for a route without streams. */
export function eventSchema(name: string): Schema | undefined {
  const frame = frames[name]
  return frame && eventOf(frame, name !== 'Chat')
}

/**
 * One event of a stream. OpenAPI 3.1 has no schema for a whole stream, and tools read this one for each event. Chat
 * streams end with `[DONE]`, which is not JSON.
 */
export function eventOf(frame: Schema, isJson: boolean): Schema {
  const data = { ...text, ...(isJson && { contentMediaType: 'application/json' }), contentSchema: frame }
  return about('Each event of the stream.', open({}, { data, event: text }))
}
