import { describe, expect, test } from 'bun:test'
import { moderatedText } from './moderated-text.ts'

const BASE64 = 'iVBORw0KGgo'.repeat(100)

describe('the text for a moderator', () => {
  test.each<[title: string, body: Record<string, unknown>, text: string]>([
    ['has a string', { messages: [{ role: 'user', content: 'Hello.' }] }, 'Hello.'],
    [
      'has parts in their order',
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
      'has a conversation in its order',
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
      'has the system text of a messages request first',
      { messages: [{ role: 'user', content: 'Hello.' }], system: [{ type: 'text', text: 'Be kind.' }] },
      'Be kind.\nHello.',
    ],
    ['has a responses request', { input: 'Hello.', instructions: 'Be kind.' }, 'Be kind.\nHello.'],
    [
      'has the items of a responses request',
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }] },
      'Hello.',
    ],
    [
      'has tool calls and results, without their ids',
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
      'has tools',
      { tools: [{ type: 'function', function: { name: 'find', description: 'Finds.' } }], messages: [] },
      'find\nFinds.',
    ],
    [
      'omits media',
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
      'keeps words after a string that looks like media',
      { messages: [{ role: 'user', content: `${BASE64} and words` }] },
      `${BASE64} and words`,
    ],
    ['omits settings', { model: 'gpt-x', user: 'u-1', messages: [{ role: 'user', content: 'A' }] }, 'A'],
    ['is empty for a request without input', { messages: [] }, ''],
    [
      'has unknown fields before the conversation',
      { messages: [{ role: 'user', content: 'B' }], prediction: { type: 'content', content: 'A' } },
      'A\nB',
    ],
    [
      'has the variables of a stored prompt',
      { input: 'B', prompt: { id: 'pmpt_1', variables: { topic: 'A' } } },
      'pmpt_1\nvariables\ntopic\nA\nB',
    ],
    [
      'has the names in the schema of a tool',
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
      'has words in the place of a protocol keyword',
      { messages: [{ role: 'two words', content: [{ type: 'three more words', text: 'A' }] }] },
      'two words\nthree more words\nA',
    ],
    [
      'has words in the place of an id',
      { messages: [{ role: 'tool', tool_call_id: 'no id at all', content: 'A' }] },
      'no id at all\nA',
    ],
    [
      'has members named id, type and role that are deeper than those of the format',
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
      'has long runs of letters in places without media',
      { messages: [{ role: 'user', content: BASE64 }], tools: [{ data: BASE64 }] },
      `data\n${BASE64}\n${BASE64}`,
    ],
  ])('the text for a moderator %s', (_, body, text) => {
    expect(moderatedText(body)).toBe(text)
  })

  test('the text for a moderator can be read from a body nested deeper than the stack', () => {
    let content: unknown = 'deep'
    for (let depth = 0; depth < 100_000; depth += 1) content = [content]

    expect(moderatedText({ messages: content })).toBe('deep')
  })

  test('the text for a moderator can be read from a list longer than the arguments of a call', () => {
    const input = Array.from({ length: 1_000_000 }, () => 7)

    expect(moderatedText({ input: [...input, 'end'] })).toBe('end')
  })
})
