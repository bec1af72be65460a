import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { IMAGE_TOKENS } from '../estimate-tokens.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { embeddingsDialect as dialect } from './dialect.ts'

const noLimits = { inputTokensMax: undefined, outputTokensMax: undefined }
function read(body: object) {
  return dialect.readRequest(parseJsonObject(sentText(JSON.stringify({ model: 'm', input: 'x', ...body }))))
}

describe('a request', () => {
  const image = { type: 'image_url', image_url: { url: 'A'.repeat(9_999) } }
  const imageTexts = ['type', 'image_url', 'image_url']

  test.each<[title: string, input: unknown, estimate: number, besideTexts: number, texts: string[]]>([
    ['a text', 'x'.repeat(40), 10, 0, ['x'.repeat(40)]],
    ['texts', ['x'.repeat(40), 'ü'], 11, 0, ['x'.repeat(40), 'ü']],
    ['a token array, exactly', [1, 2, 3], 3, 3, []],
    ['token arrays, exactly', [[1, 2, 3], [4]], 4, 4, []],
    ['an image, at a fixed number', [image], IMAGE_TOKENS + 6, IMAGE_TOKENS, imageTexts],
    ['nothing', [], 0, 0, []],
  ])('a request is estimated by its input alone: %s', (_title, input, estimate, besideTexts, texts) => {
    const request = read({ input, dimensions: 256, user: 'x'.repeat(999) })

    expect(request.inputTokensEstimate).toBe(estimate)
    expect(request.input()).toEqual({ texts, tokens: besideTexts })
  })

  test('a request goes upstream with the same bytes except for the model', () => {
    const json =
      '{"dimensions":1e3,"input":["a","\\u0062"], "model" : "m" ,"encoding_format":"base64","x":1.0,"x":2}'
    const request = dialect.readRequest(parseJsonObject(sentText(json)))

    expect(dialect.forUpstream(request, 'up')).toBe(json.replace('"m"', '"up"'))
  })

  test('a request has no stream, no output ceiling and one choice', () => {
    expect(read({ stream: false })).toMatchObject({ isStream: false, outputCeiling: undefined, choices: 1 })
  })

  test.each([
    ['stream', { stream: true }],
    ['stream', { stream: 'no' }],
    ['input', { input: undefined }],
    ['input', { input: { text: 'x' } }],
    ['input', { input: 7 }],
    ['model', { model: null }],
  ])('a request is rejected for its %s in %j', (param, body) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({ code: 'invalid_field', extras: expect.objectContaining({ param }) }),
    )
  })

  test('a request is ambiguous with two inputs', () => {
    const json = '{"model":"m","input":"a","Input":"b"}'

    expect(() => dialect.readRequest(parseJsonObject(sentText(json)))).toThrow(
      expect.objectContaining({ code: 'ambiguous_field' }),
    )
  })
})

describe('an answer', () => {
  const json =
    '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-1e-3]}],"model":"up","usage":{"prompt_tokens":5,"total_tokens":5}}'

  test('an answer has a usage that is all input', () => {
    const answer = dialect.readAnswer(json, noLimits)

    expect(answer).toMatchObject({ usage: { ...NO_USAGE, input: 5 }, isEmpty: false, isClamped: false })
  })

  test('an answer reaches the client with the same bytes except for the model and the cost', () => {
    const answer = dialect.readAnswer(json, noLimits)

    const reply = dialect.forClient(answer!, { model: 'm', cost: usd('0.0001') })

    expect(reply).toBe(json.replace('"up"', '"m"').replace('_tokens":5}', '_tokens":5,"cost_usd":"0.0001"}'))
  })

  test('an answer may have its vectors as base64, and no usage', () => {
    const answer = dialect.readAnswer('{"data":[{"embedding":"AAAA"}]}', noLimits)

    expect(answer).toMatchObject({ usage: null })
  })

  test.each(['<html>', '{"data":', '{"error":{"message":"x"}}', '{"data":{}}', '[]', ''])(
    'an answer is not read from %j',
    body => {
      expect(dialect.readAnswer(body, noLimits)).toBeUndefined()
    },
  )
})
