import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { requestForUpstream } from '../pass-through.ts'
import { readChatRequest } from './request.ts'

const readText = (text: string) => readChatRequest(parseJsonObject(sentText(text)))
const read = (fields: object) => readText(JSON.stringify({ model: 'gpt-x', messages: [], ...fields }))

describe('the gateway reads', () => {
  test('the smallest request', () => {
    expect(read({})).toMatchObject({
      model: 'gpt-x',
      isStream: false,
      includeUsage: false,
      outputCeiling: undefined,
      choices: 1,
    })
  })

  test('a stream with usage', () => {
    const request = read({ stream: true, stream_options: { include_usage: true }, n: 3 })

    expect(request).toMatchObject({ isStream: true, includeUsage: true, choices: 3 })
  })

  test.each([
    [{ max_tokens: 10 }, 10, 'max_tokens'],
    [{ max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: 10, max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: 30, max_completion_tokens: 20 }, 30, 'max_tokens'],
    [{ max_tokens: null, max_completion_tokens: 20 }, 20, 'max_completion_tokens'],
    [{ max_tokens: null }, undefined, 'max_tokens'],
  ])('%j as an output ceiling of %p, set by %s', (fields, outputCeiling, outputCeilingField) => {
    expect(read(fields)).toMatchObject({ outputCeiling, outputCeilingField })
  })

  test('null as absent', () => {
    const request = read({
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

  test('numbers in any notation that JSON allows', () => {
    expect(readText('{"model":"a","messages":[],"max_tokens":1.0e2,"n":2.0}')).toMatchObject({
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
  ])('%s in %j', (param, fields, message) => {
    expect(() => read(fields)).toThrow(
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
    expect(() => readText(`{"model":"a","messages":[],"${field.toUpperCase()}":1}`)).toThrow(
      expect.objectContaining({ code: 'ambiguous_field', extras: { param: field } }),
    )
  }
})

test('other fields are not checked', () => {
  expect(() =>
    read({ temperature: 'hot', tools: 7, tool_choice: [], top_p: null, messages: [1, 'x', null] }),
  ).not.toThrow()
})

test('the upstream gets the same bytes except for the model’s name', () => {
  const text = '{"seed":1.0, "mod\\u0065l" : "gpt-\\u0078","messages":[{"model":"gpt-x"}],"seed":1e400}'

  const sent = requestForUpstream(readText(text), 'up/"stream"-é')

  expect(sent).toBe(text.replace('"gpt-\\u0078"', '"up/\\"stream\\"-é"'))
})

test('a request that already has the upstream’s name of the model is not changed', () => {
  const request = read({})

  expect(requestForUpstream(request, 'gpt-x')).toBe(request.text)
})

test('the texts of a request are what the model reads, without media', () => {
  const request = read({
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
