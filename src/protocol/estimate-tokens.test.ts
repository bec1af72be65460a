import { describe, expect, test } from 'bun:test'
import { sentText } from '../../test/support/sent-text.ts'
import {
  AUDIO_TOKENS,
  FILE_TOKENS,
  IMAGE_TOKENS,
  VIDEO_TOKENS,
  estimateInputTokens,
} from './estimate-tokens.ts'
import { parseJsonObject } from './json/parse-json.ts'

const estimate = (body: object) => estimateInputTokens(parseJsonObject(sentText(JSON.stringify(body))))

/** A quarter of the characters of these texts together, rounded up once. */
const quarter = (...texts: string[]) => Math.ceil(texts.join('').length / 4)

test('four ASCII characters are a token, rounded up once for the whole request', () => {
  expect(estimate({ input: 'abc' })).toBe(2)
  expect(estimate({ input: 'abcd' })).toBe(3)
})

test.each([
  ['é', 1],
  ['漢字', 2],
  ['😀', 1],
  ['👩‍👩‍👧', 5],
  ['\ud800', 1],
  ['\udc00\udc00', 2],
  ['a漢b字', 2],
])('%p has %p characters of one token each', (text, tokens) => {
  const asciiChars = text.replaceAll(/[^a-z]/g, '').length

  expect(estimate({ input: text })).toBe(Math.ceil(('input'.length + asciiChars) / 4) + tokens)
})

test('an escaped character counts like the character itself', () => {
  const body = sentText('{"input":"\\u6f22\\n\\u0041bc"}')

  expect(estimateInputTokens(parseJsonObject(body))).toBe(Math.ceil('input\nAbc'.length / 4) + 1)
})

test('names, tool calls, tools, functions and schemas are input too', () => {
  const word = 'w'.repeat(400)
  const plain = estimate({ messages: [] })

  for (const body of [
    { messages: [{ content: [{ type: 'text', text: word }] }] },
    { messages: [{ name: word }] },
    { messages: [{ tool_calls: [{ id: '1', function: { name: 'f', arguments: word } }] }] },
    { messages: [], tools: [{ type: 'function', function: { parameters: { properties: { [word]: {} } } } }] },
    { messages: [], functions: [{ description: word }] },
    { messages: [], response_format: { json_schema: { schema: { description: word } } } },
  ]) {
    expect(estimate(body)).toBeGreaterThanOrEqual(plain + 100)
  }
})

describe('media', () => {
  const base64 = 'A'.repeat(100_000)

  test.each([
    [
      IMAGE_TOKENS,
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}`, detail: 'high' } },
    ],
    [IMAGE_TOKENS, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
    [IMAGE_TOKENS, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }],
    [IMAGE_TOKENS, { type: 'input_image', image_url: base64 }],
  ])('media is %p tokens for an image of any size', (tokens, part) => {
    const counted = quarter('messages', 'content', ...Object.keys(part), part.type)

    expect(estimate({ messages: [{ content: [part] }] })).toBe(counted + tokens)
  })

  test.each([
    [FILE_TOKENS, { type: 'file', file: { filename: 'a.pdf', file_data: 'A'.repeat(100) } }],
    [75_000, { type: 'file', file: { filename: 'a.pdf', file_data: base64 } }],
    [75_000, { type: 'input_file', file_data: base64 }],
    [75_000, { type: 'document', source: { type: 'base64', data: base64 } }],
    [VIDEO_TOKENS, { type: 'video_url', video_url: { url: 'A'.repeat(100) } }],
    [18_750, { type: 'video_url', video_url: { url: base64 } }],
  ])('media is at most %p tokens for a file or a video, by its size: %j', (tokens, part) => {
    const counted = quarter('messages', 'content', ...Object.keys(part), part.type)

    expect(estimate({ messages: [{ content: [part] }] })).toBe(counted + tokens)
  })

  test.each([
    ['wav', 'A'.repeat(4_266_668), 2_001],
    ['wav', 'A'.repeat(4_266_664), AUDIO_TOKENS],
    ['WAV', 'A'.repeat(8_533_336), 4_001],
    ['mp3', 'A'.repeat(200_004), 2_001],
    ['mp3', 'A'.repeat(100), AUDIO_TOKENS],
    [undefined, 'A'.repeat(400_000), 4_000],
  ])('media is held by size for audio in the format %p: %#', (format, data, tokens) => {
    const part = { type: 'input_audio', input_audio: { data, format } }
    const counted = quarter('messages', 'content', ...Object.keys(part), part.type)

    expect(estimate({ messages: [{ content: [part] }] })).toBe(counted + tokens)
  })

  test.each([
    [`data:audio/wav;base64,${'A'.repeat(8_533_336)}`, 4_001],
    [`data:audio/x-wav;base64,${'A'.repeat(8_533_336)}`, 4_001],
    [`data:audio/mpeg;base64,${'A'.repeat(400_000)}`, 4_001],
    ['https://example.com/a.wav', AUDIO_TOKENS],
  ])('media is held by size for audio in a data URL, and as a constant for a link: %#', (url, tokens) => {
    const inObject = { type: 'audio_url', audio_url: { url } }
    const plain = { type: 'audio_url', audio_url: url }
    const counted = quarter('messages', 'content', ...Object.keys(plain), plain.type)

    for (const part of [inObject, plain])
      expect(estimate({ messages: [{ content: [part] }] })).toBe(counted + tokens)
  })

  test.each([
    { type: 'file', file: { file_id: 'file_1' } },
    { type: 'input_file', file_id: 'file_1' },
    { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
  ])('media is unbounded for a file or a video that is only referenced: %j', part => {
    expect(estimate({ messages: [{ content: [part] }] })).toBe(Infinity)
  })

  test('media has other members in its part, which are text', () => {
    const part = { type: 'image_url', image_url: { url: 'x' }, text: 'w'.repeat(4000) }

    expect(estimate({ messages: [{ content: [part] }] })).toBeGreaterThan(IMAGE_TOKENS + 1000)
  })

  test('media is not found in a tool schema of the same shape, which is text', () => {
    const schema = { type: 'image_url', image_url: 'w'.repeat(40_000) }

    expect(estimate({ messages: [], tools: [schema] })).toBeGreaterThan(10_000)
  })
})

test('token arrays are counted exactly', () => {
  expect(estimate({ input: [1, 2, 3, 4, 5] })).toBe(quarter('input') + 5)
  expect(
    estimate({
      input: [
        [1, 2],
        [3, 4, 5],
      ],
    }),
  ).toBe(quarter('input') + 5)
})

test('numbers, booleans and nulls beside the input are not part of it', () => {
  const settings = { max_tokens: 100, temperature: 0.5, n: 2, stream: false, user: null }

  expect(estimate({ input: 'abcd', ...settings })).toBe(estimate({ input: 'abcd' }))
})

test('a body nested deeper than the stack is counted', () => {
  const depth = 500_000
  const body = sentText(`{"messages":${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}}`)

  expect(estimateInputTokens(parseJsonObject(body))).toBe(Math.ceil(('messages'.length + depth) / 4) + 1)
})
