import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { usd } from '../../domain/money.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { requestForUpstream, answerForClient } from '../pass-through.ts'
import { readChatRequest, readChatAnswer, withUsageAsked } from './dialect.ts'

const requestIn = (text: string) => readChatRequest(parseJsonObject(sentText(text)))
const requestWith = (fields: object) => requestIn(JSON.stringify({ model: 'gpt-x', messages: [], ...fields }))

describe('the gateway reads', () => {
  test('the gateway reads the smallest request', () => {
    expect(requestWith({})).toMatchObject({
      model: 'gpt-x',
      isStream: false,
      includeUsage: false,
      outputCeiling: undefined,
      choices: 1,
    })
  })

  test('the gateway reads a stream with usage', () => {
    const request = requestWith({ stream: true, stream_options: { include_usage: true }, n: 3 })

    expect(request).toMatchObject({ isStream: true, includeUsage: true, choices: 3 })
  })

  test.each([
    [{ max_tokens: 10 }, 10, 'max_tokens'],
    [{ max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: 10, max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: 30, max_completion_tokens: 20 }, 30, 'max_tokens'],
    [{ max_tokens: null, max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: null }, undefined, 'max_tokens'],
  ])(
    'the gateway reads %j as an output ceiling of %p, set by %s',
    (fields, outputCeiling, outputCeilingField) => {
      expect(requestWith(fields)).toMatchObject({ outputCeiling, outputCeilingField })
    },
  )

  test('the gateway reads null as absent', () => {
    const request = requestWith({
      stream: null,
      stream_options: null,
      n: null,
      max_tokens: null,
      max_completion_tokens: null,
    })

    expect(request).toMatchObject({
      isStream: false,
      includeUsage: false,
      choices: 1,
      outputCeiling: undefined,
    })
  })

  test('the gateway reads numbers in any notation that JSON allows', () => {
    expect(requestIn('{"model":"a","messages":[],"max_tokens":1.0e2,"n":2.0}')).toMatchObject({
      outputCeiling: 100,
      choices: 2,
    })
  })
})

describe('the error for a wrong field names it and says what it must be', () => {
  test.each([
    ['model', { model: undefined }, '"model" must be a non-empty string; it is missing.'],
    ['model', { model: null }, '"model" must be a non-empty string; it is missing.'],
    ['model', { model: '' }, '"model" must be a non-empty string; it is an empty string.'],
    ['model', { model: ['a'] }, '"model" must be a non-empty string; it is an array.'],
    ['messages', { messages: undefined }, '"messages" must be an array; it is missing.'],
    ['messages', { messages: 'hi' }, '"messages" must be an array; it is a string.'],
    ['stream', { stream: 'true' }, '"stream" must be true or false; it is a string.'],
    ['stream', { stream: 1 }, '"stream" must be true or false; it is 1.'],
    ['stream_options', { stream_options: [] }, '"stream_options" must be an object; it is an array.'],
    [
      'stream_options.include_usage',
      { stream_options: { include_usage: 'yes' } },
      '"stream_options.include_usage" must be true or false; it is a string.',
    ],
    ['max_tokens', { max_tokens: 0 }, '"max_tokens" must be an integer of at least 1; it is 0.'],
    ['max_tokens', { max_tokens: 1.5 }, '"max_tokens" must be an integer of at least 1; it is 1.5.'],
    ['max_completion_tokens', { max_completion_tokens: '9' }, /of at least 1; it is a string\.$/],
    ['max_completion_tokens', { max_completion_tokens: 1e300 }, /of at least 1; it is 1e\+300\.$/],
    ['n', { n: 0 }, '"n" must be an integer from 1 to 128; it is 0.'],
    ['n', { n: 129 }, '"n" must be an integer from 1 to 128; it is 129.'],
    ['n', { n: {} }, '"n" must be an integer from 1 to 128; it is an object.'],
  ])('the error for a wrong field names it and says what it must be: %s in %j', (param, fields, message) => {
    expect(() => requestWith(fields)).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        message: expect.stringMatching(message),
        extras: { param },
      }),
    )
  })
})

test('a field that the gateway reads may occur only once', () => {
  for (const field of [
    'model',
    'messages',
    'stream',
    'stream_options',
    'max_tokens',
    'max_completion_tokens',
    'n',
  ]) {
    expect(() => requestIn(`{"model":"a","messages":[],"${field.toUpperCase()}":1}`)).toThrow(
      expect.objectContaining({ code: 'ambiguous_field', extras: { param: field } }),
    )
  }
})

test('other fields are not checked', () => {
  expect(() =>
    requestWith({ temperature: 'hot', tools: 7, tool_choice: [], top_p: null, messages: [1, 'x', null] }),
  ).not.toThrow()
})

test('the upstream gets the same bytes except for the model’s name', () => {
  const text = '{"seed":1.0, "mod\\u0065l" : "gpt-\\u0078","messages":[{"model":"gpt-x"}],"seed":1e400}'

  const sent = requestForUpstream(requestIn(text), 'up/"stream"-é')

  expect(sent).toBe(text.replace('"gpt-\\u0078"', '"up/\\"stream\\"-é"'))
})

test('a request that already has the upstream’s name of the model is not changed', () => {
  const request = requestWith({})

  expect(requestForUpstream(request, 'gpt-x')).toBe(request.text)
})

test('the texts of a request are what the model reads, without media', () => {
  const request = requestWith({
    user: 'not input',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:x' } },
          { type: 'text', text: 'hi' },
        ],
      },
    ],
    tools: [{ function: { name: 'look' } }],
  })

  const { texts } = request.input()

  expect(texts).toContain('hi')
  expect(texts).toContain('look')
  expect(texts).not.toContain('data:x')
  expect(texts).not.toContain('not input')
})

const LIMITS = { inputTokensMax: 1000, outputTokensMax: 100 }

const answerIn = (text: string) => readChatAnswer(text, LIMITS)
const answerWith = (fields: object) =>
  answerIn(JSON.stringify({ id: 'c1', model: 'up', choices: [], ...fields }))!
const saying = (message: object, finish = 'stop') =>
  answerWith({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }] })

test.each([
  '<html>Bad gateway</html>',
  '',
  '{"id":"c1","choices":[',
  '[]',
  'null',
  '{}',
  '{"choices":null}',
  '{"choices":{}}',
  '{"error":{"message":"no"}}',
])('%p is not an answer', text => {
  expect(answerIn(text)).toBeUndefined()
})

test('an answer has its usage, whether it was clamped, and the upstream’s cost', () => {
  const answer = answerWith({ usage: { prompt_tokens: 5, completion_tokens: 500, cost: 0.000_012_5 } })

  expect(answer).toMatchObject({
    usage: { ...NO_USAGE, input: 5, output: 100 },
    isClamped: true,
    reportedCost: parseExactUsd('0.0000125')!,
  })
})

test('an answer without usage has no cost', () => {
  expect(answerWith({})).toMatchObject({ usage: null, isClamped: false, reportedCost: null })
})

describe('an answer without content is empty', () => {
  test.each([
    {},
    { content: null },
    { content: '' },
    { content: [] },
    { content: [{ type: 'text', text: '' }] },
    {
      content: null,
      tool_calls: [],
      refusal: null,
      reasoning_content: '',
      audio: null,
      reasoning_details: [],
    },
  ])('an answer without content is empty: %j', message => {
    expect(saying(message).isEmpty).toBe(true)
  })

  test('an answer without choices is empty', () => {
    expect(answerWith({ choices: [] }).isEmpty).toBe(true)
    expect(answerWith({ choices: [null, {}] }).isEmpty).toBe(true)
  })
})

describe('an answer is not empty', () => {
  test.each([
    { content: ' ' },
    { content: [{ type: 'text', text: 'hi' }] },
    { content: [{ type: 'image_url', image_url: { url: 'data:' } }] },
    { refusal: 'no' },
    { reasoning_content: 'hm' },
    { reasoning: 'hm' },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'xx' }] },
    { tool_calls: [{ id: '1' }] },
    { function_call: { name: 'f', arguments: '' } },
    { audio: { id: 'a' } },
    { images: [{ type: 'image_url' }] },
  ])('an answer is not empty: %j', message => {
    expect(saying({ content: null, ...message }).isEmpty).toBe(false)
  })

  test('an answer with content in a later choice is not empty', () => {
    const choices = [{ message: { content: '' } }, { message: { content: 'hi' } }]

    expect(answerWith({ choices }).isEmpty).toBe(false)
  })

  test.each(['length', 'content_filter'])('an answer that was cut by %s is not empty', finish => {
    expect(saying({ content: '' }, finish).isEmpty).toBe(false)
  })
})

test('the texts of an answer are everything that the model wrote', () => {
  const answer = saying({
    content: [{ type: 'text', text: 'a' }],
    reasoning_content: 'b',
    refusal: 'c',
    tool_calls: [{ id: 'x', type: 'function', function: { name: 'd', arguments: 'e' } }, 'odd'],
    function_call: { name: 'f', arguments: 7 },
    audio: { data: 'x' },
  })

  expect([...answer.texts()].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(saying({ content: 'only this' }).texts()).toEqual(['only this'])
})

test('the client gets the same bytes with the logical name and the cost', () => {
  const answer = answerIn(
    '{"x":1.0,"x":1e400,"model":"up","choices":[{"message":{"content":"\\ud800"}}],"usage":{"prompt_tokens":1}}',
  )

  const reply = answerForClient(answer!, { model: 'gpt-x', cost: usd('0.000001') })

  expect(reply).toBe(
    '{"x":1.0,"x":1e400,"model":"gpt-x","choices":[{"message":{"content":"\\ud800"}}],"usage":{"prompt_tokens":1,"cost_usd":"0.000001"}}',
  )
})

test.each([
  ['{"model":"m"}', '{"stream_options":{"include_usage":true},"model":"m"}'],
  [' {\n "model":"m"}', ' {"stream_options":{"include_usage":true},\n "model":"m"}'],
  ['{"model":"m","stream_options":null}', '{"model":"m","stream_options":{"include_usage":true}}'],
  ['{"stream_options": {} ,"model":"m"}', '{"stream_options": {"include_usage":true} ,"model":"m"}'],
  [
    '{"stream_options":{"include_usage": false , "x":1e400},"n":1.0}',
    '{"stream_options":{"include_usage": true , "x":1e400},"n":1.0}',
  ],
  [
    '{"stream_options":{"include_obfuscation":false},"n":1.0}',
    '{"stream_options":{"include_usage":true,"include_obfuscation":false},"n":1.0}',
  ],
  [
    '{"stream_options":{"include_usage":null,"include\\u005fusage":false}}',
    '{"stream_options":{"include_usage":true,"include\\u005fusage":true}}',
  ],
  [
    '{"messages":[{"stream_options":{}}],"stream\\u005foptions":{}}',
    '{"messages":[{"stream_options":{}}],"stream\\u005foptions":{"include_usage":true}}',
  ],
])('%s asks for usage as %s', (text, asked) => {
  expect(withUsageAsked(text)).toBe(asked)
  expect(JSON.parse(asked)).toMatchObject({ stream_options: { include_usage: true } })
})
