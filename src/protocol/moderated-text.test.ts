import { describe, expect, test } from 'bun:test'
import { moderatedText } from './moderated-text.ts'

const BASE64 = 'iVBORw0KGgo'.repeat(100)

describe('the text for a moderator', () => {
  test.each<[title: string, body: Record<string, unknown>, text: string]>([
    ['of a string', { messages: [{ role: 'user', content: 'Hello.' }] }, 'Hello.'],
    [
      'of parts, in the order they stand',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'One' },
              { type: 'text', text: 'two' },
            ],
          },
        ],
      },
      'One\ntwo',
    ],
    [
      'of a conversation, the last words last',
      {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'A' },
          { role: 'assistant', content: 'B' },
          { role: 'user', content: 'C' },
        ],
      },
      'Be kind.\nA\nB\nC',
    ],
    [
      'of a messages request, its system text first',
      { messages: [{ role: 'user', content: 'Hello.' }], system: [{ type: 'text', text: 'Be kind.' }] },
      'Be kind.\nHello.',
    ],
    ['of a responses request', { input: 'Hello.', instructions: 'Be kind.' }, 'Be kind.\nHello.'],
    [
      'of responses items',
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }] },
      'Hello.',
    ],
    [
      'of tool calls and results, without their ids',
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'Found.' },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'Done.' }] },
        ],
      },
      'find\n{"q":"x"}\nFound.\nDone.',
    ],
    [
      'of tools',
      { tools: [{ type: 'function', function: { name: 'find', description: 'Finds.' } }], messages: [] },
      'find\nFinds.',
    ],
    [
      'leaves media out',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } },
              { type: 'input_audio', input_audio: { data: BASE64, format: 'wav' } },
              { type: 'text', text: 'What is this?' },
            ],
          },
        ],
      },
      'wav\nWhat is this?',
    ],
    [
      'keeps words that hide behind what looks like media',
      { messages: [{ role: 'user', content: `${BASE64} and words` }] },
      `${BASE64} and words`,
    ],
    ['leaves settings out', { model: 'gpt-x', user: 'u-1', messages: [{ role: 'user', content: 'A' }] }, 'A'],
    ['of nothing is empty', { messages: [] }, ''],
    [
      'of fields that it does not know, before the conversation',
      { messages: [{ role: 'user', content: 'B' }], prediction: { type: 'content', content: 'A' } },
      'A\nB',
    ],
    [
      'of the variables of a stored prompt',
      { input: 'B', prompt: { id: 'pmpt_1', variables: { topic: 'A' } } },
      'pmpt_1\nvariables\ntopic\nA\nB',
    ],
    [
      'of the names in the schema of a tool',
      {
        tools: [
          {
            type: 'function',
            function: {
              name: 'find',
              parameters: { type: 'object', properties: { 'a hidden word': { type: 'string' } } },
            },
          },
        ],
      },
      'find\na hidden word',
    ],
    [
      'of words that stand where the format has one of its own',
      { messages: [{ role: 'two words', content: [{ type: 'three more words', text: 'A' }] }] },
      'two words\nthree more words\nA',
    ],
    [
      'of words that stand where an id belongs',
      { messages: [{ role: 'tool', tool_call_id: 'no id at all', content: 'A' }] },
      'no id at all\nA',
    ],
    [
      'of members called id, type and role that are further in than those of the format',
      {
        input: [
          {
            type: 'mcp_call',
            id: 'mcp_1',
            output: { rows: [{ detail: { id: 'A', type: 'B', role: 'C' } }] },
          },
        ],
      },
      'mcp_call\nA\nB\nC',
    ],
    [
      'of letters without end that stand where no media does',
      { messages: [{ role: 'user', content: BASE64 }], tools: [{ data: BASE64 }] },
      `data\n${BASE64}\n${BASE64}`,
    ],
  ])('%s', (_, body, text) => {
    expect(moderatedText(body)).toBe(text)
  })

  test('of a body nested deeper than any stack is read all the same', () => {
    let content: unknown = 'deep'
    for (let depth = 0; depth < 100_000; depth += 1) content = [content]

    expect(moderatedText({ messages: content })).toBe('deep')
  })

  test('of a list longer than any call has arguments is read all the same', () => {
    const input = Array.from({ length: 1_000_000 }, () => 7)

    expect(moderatedText({ input: [...input, 'end'] })).toBe('end')
  })
})
