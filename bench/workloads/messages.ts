import { parseJsonObject } from '../../src/protocol/json/parse-json.ts'
import { chatRequestOf, readMessagesRequest } from '../../src/protocol/messages/request.ts'
import { chat } from './chat.ts'
import { aroundNumber, MODEL, UPSTREAM_MODEL, type Converted, type Workload } from './workload.ts'

const PATH = '/v1/messages'

/**
 * A Messages request. All peers except the gateway get the chat request into which it is converted, so that every peer
 * forwards the same bytes. The answer is the one of `chat`.
 */
function converted(name: string, request: object, expected: Converted['expected']): Workload {
  const json = JSON.stringify(request)
  const read = readMessagesRequest(parseJsonObject({ text: json, byteLength: Buffer.byteLength(json) }))
  const asChat = chatRequestOf(read, { model: UPSTREAM_MODEL, maxTokensField: 'max_tokens' })
  return {
    name,
    model: MODEL,
    path: chat.path,
    body: aroundNumber(asChat),
    answer: chat.answer,
    converted: { path: PATH, body: aroundNumber(json), expected },
  }
}

const { id, choices } = JSON.parse(chat.answer) as {
  id: string
  choices: [{ message: { content: string } }]
}
const text = choices[0].message.content

/** `chat.answer`, converted to a message. */
function message(cost: string): string {
  return JSON.stringify({
    id,
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 193, output_tokens: 84, cost_usd: cost },
  })
}

/** The same message as events. */
function events(cost: string): string {
  const start = {
    ...(JSON.parse(message(cost)) as object),
    content: [],
    stop_reason: null,
    usage: { input_tokens: 193, output_tokens: 0, cost_usd: cost },
  }
  return [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 84 },
    },
    { type: 'message_stop' },
  ]
    .map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

const SYSTEM = `You are a careful assistant for developers. Answer in plain sentences, name the function or the flag that \
matters, and say so when you are not sure. Prefer the standard library to a package. Show code only when it is shorter than \
the sentence that would explain it. Never invent an option: if a tool cannot do what was asked, say what it can do. Use the \
language of the question. Keep the answer under two hundred words unless the question asks for more.`

/** The conversation of `chat` as a Messages request. */
export const messages: Workload = converted(
  'messages',
  {
    model: MODEL,
    max_tokens: 400,
    temperature: 0.7,
    system: SYSTEM,
    messages: [
      { role: 'user', content: 'How do I read a file line by line without loading all of it?' },
      { role: 'assistant', content: 'Open it as a stream and iterate over the lines as they arrive.' },
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: 'This is question number {number}. Which errors should I expect on the way?',
          },
        ],
      },
    ],
    metadata: { user_id: 'customer-7f3a' },
  },
  message,
)

const ephemeral = { type: 'ephemeral' }

/** A typical request of a coding agent: long instructions, many tools, and calls with their results. */
function agentRequest(): object {
  const tools = ['read_file', 'write_file', 'edit_file', 'run_command', 'find_files', 'search_text'].map(
    name => ({
      name,
      description: `${name}: ${'Takes absolute paths only, and says what it did in one line. '.repeat(30)}`,
      input_schema: {
        type: 'object',
        properties: {
          path: {
            type: 'string',
            description: 'Where. '.repeat(10),
          },
          lines: {
            type: 'array',
            items: { type: 'integer' },
            description: 'Which lines, counted from 1. '.repeat(4),
          },
          is_quiet: { type: 'boolean', default: false },
        },
        required: ['path'],
        additionalProperties: false,
      },
    }),
  )
  const work = Array.from({ length: 12 }, (_, index) => [
    {
      role: 'assistant',
      content: [
        {
          type: 'thinking',
          thinking: 'I should look at the next file. '.repeat(4),
          signature: 'c2ln'.repeat(40),
        },
        { type: 'text', text: 'I read the next file.' },
        {
          type: 'tool_use',
          id: `toolu_${index}`,
          name: 'read_file',
          input: { path: `/srv/app/src/part-${index}.ts`, lines: [1, 200] },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `toolu_${index}`,
          content: [
            {
              type: 'text',
              text: `export function part${index}(value: number): number {\n  return value * ${index}\n}\n`.repeat(
                18,
              ),
            },
          ],
          ...(index > 9 ? { cache_control: ephemeral } : {}),
        },
      ],
    },
  ])
  return {
    model: MODEL,
    max_tokens: 4000,
    stream: true,
    system: [
      { type: 'text', text: 'You are a coding agent.', cache_control: ephemeral },
      { type: 'text', text: `${SYSTEM}\n`.repeat(20), cache_control: ephemeral },
    ],
    messages: [
      { role: 'user', content: 'Rename the function everywhere. This is task {number}.' },
      ...work.flat(),
    ],
    tools,
    thinking: { type: 'adaptive' },
    metadata: { user_id: '{"session_id":"s"}' },
  }
}

/** A coding agent's request of about 50 KB, answered as a stream. */
export const codingAgent: Workload = converted('coding agent', agentRequest(), events)
