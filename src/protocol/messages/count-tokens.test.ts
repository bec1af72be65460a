import { expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { FILE_TOKENS, IMAGE_TOKENS } from '../estimate-tokens.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { MESSAGE_TOKENS, readCountTokensRequest, TOOL_TOKENS } from './count-tokens.ts'

function count(body: object): number {
  const json = JSON.stringify({ model: 'm', messages: [], ...body })
  return readCountTokensRequest(parseJsonObject(sentText(json))).inputTokens
}

const text = (characters: number) => ({ type: 'text', text: 'x'.repeat(characters) })
const user = (...content: unknown[]) => ({ role: 'user', content })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(9_999) } }

test.each<[title: string, body: object, tokens: number]>([
  ['four characters are a token', { messages: [user(text(400))] }, 100 + MESSAGE_TOKENS],
  ['a remainder counts as one token', { messages: [user(text(401))] }, 101 + MESSAGE_TOKENS],
  [
    'characters of any script count the same',
    { messages: [user({ type: 'text', text: '語'.repeat(40) })] },
    10 + MESSAGE_TOKENS,
  ],
  ['the system prompt is a message', { system: 'x'.repeat(40) }, 10 + MESSAGE_TOKENS],
  ['each message has an overhead', { messages: [user(text(4)), user(text(4))] }, 2 + 2 * MESSAGE_TOKENS],
  [
    'a tool counts its name, description and schema, and an overhead',
    { tools: [{ name: 'name', description: 'x'.repeat(34), input_schema: {} }] },
    10 + TOOL_TOKENS,
  ],
  ['a dropped tool is not counted', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 0],
  ['an image is a fixed number', { messages: [user(image, text(4))] }, 1 + IMAGE_TOKENS + MESSAGE_TOKENS],
  [
    'a call counts its name and arguments',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find', input: { a: 1234567 } }] },
      ],
    },
    Math.ceil((4 + 13) / 4) + MESSAGE_TOKENS,
  ],
  [
    'a result counts as a message with its text',
    { messages: [user({ type: 'tool_result', tool_use_id: 'a', content: [text(40)] })] },
    10 + MESSAGE_TOKENS,
  ],
  [
    'a file has a fixed number of tokens',
    {
      messages: [
        user({
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'x'.repeat(9000) },
        }),
      ],
    },
    FILE_TOKENS + MESSAGE_TOKENS,
  ],
  ['an empty request has no tokens', {}, 0],
])('%s', (_title, body, tokens) => {
  expect(count(body)).toBe(tokens)
})

test.each(['"model":"m","model":"n"', '"model":"m","Model":"n"', '"model":"m","messages":[]'])(
  'a request that names a field twice cannot be counted: %s',
  members => {
    const document = parseJsonObject(sentText(`{${members},"messages":[]}`))

    expect(() => readCountTokensRequest(document)).toThrow(
      expect.objectContaining({ code: 'ambiguous_field' }) as Error,
    )
  },
)

test('a request that could not be sent cannot be counted', () => {
  expect(() => count({ messages: [user({ type: 'hologram' })] })).toThrow('"hologram"')
  expect(() => count({ thread: { type: 'create' } })).toThrow('"thread"')
})
