import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { usd } from '../../domain/money.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { responsesDialect as dialect } from './dialect.ts'

const noLimits = { inputTokensMax: undefined, outputTokensMax: undefined }
function read(body: object) {
  return dialect.readRequest(parseJsonObject(sentText(JSON.stringify({ model: 'm', input: 'x', ...body }))))
}

describe('a request', () => {
  test('a request has its model, stream, output ceiling and input estimate read', () => {
    const request = read({ instructions: 'x'.repeat(400), stream: true, max_output_tokens: 50 })

    expect(request).toMatchObject({ model: 'm', isStream: true, outputCeiling: 50, choices: 1 })
    expect(request.inputTokensEstimate).toBeGreaterThan(100)
    expect(request.inputTokensEstimate).toBeLessThan(140)
  })

  test('a request may have no output ceiling, or null', () => {
    expect(read({}).outputCeiling).toBeUndefined()
    expect(read({ max_output_tokens: null, stream: null, background: false }).outputCeiling).toBeUndefined()
  })

  test('a request counts an image at a fixed number, not by its base64', () => {
    const content = [{ type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(100_000)}` }]

    const request = read({ input: [{ role: 'user', content }] })

    expect(request.inputTokensEstimate).toBeLessThan(2_000)
    expect(request.input().texts.join('')).not.toContain('base64')
  })

  test.each<[title: string, body: object, uses: boolean]>([
    ['a previous response', { previous_response_id: 'resp_1' }, true],
    ['a conversation by its id', { conversation: 'conv_1' }, true],
    ['a conversation as an object', { conversation: { id: 'conv_1' } }, true],
    ['a stored prompt', { prompt: { id: 'pmpt_1', variables: { name: 'Ada' } } }, true],
    ['an item of an earlier response', { input: [{ type: 'item_reference', id: 'msg_1' }] }, true],
    ['an item with only an id', { input: [{ id: 'msg_1' }] }, true],
    [
      'no stored context',
      { previous_response_id: null, conversation: null, prompt: null, store: true },
      false,
    ],
    ['only its own items', { input: [{ role: 'user', content: 'Hi.', id: 'msg_1' }] }, false],
  ])('references stored content or not: %s', (_, body, uses) => {
    expect(read(body).inputTokensEstimate === Infinity).toBe(uses)
  })

  test.each(['previous_response_id', 'conversation', 'prompt'])(
    'a request with two "%s" is rejected',
    field => {
      const json = `{"model":"m","input":"x","${field}":"a","${field}":null}`

      expect(() => dialect.readRequest(parseJsonObject(sentText(json)))).toThrow(`"${field}" is in the body`)
    },
  )

  test('a request of a coding agent goes upstream with the same bytes except for the model', () => {
    const body = {
      model: 'm',
      input: [
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: 'Mind the sandbox. '.repeat(3_000) }],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          call_id: 'c',
          name: 'apply_patch',
          input: '*** Begin Patch',
        },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'Done.' },
      ],
      tools: [
        { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f', parameters: {} }] },
        { type: 'web_search', external_web_access: true },
        {
          type: 'custom',
          name: 'apply_patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      client_metadata: { session: 's' },
    }
    const json = JSON.stringify(body)
    expect(json.length).toBeGreaterThan(50_000)

    const request = dialect.readRequest(parseJsonObject(sentText(json)))

    expect(dialect.forUpstream(request, 'up')).toBe(json.replace('"model":"m"', '"model":"up"'))
  })

  test.each([
    ['background', { background: true }, 'are not supported'],
    ['background', { background: 'yes' }, 'true or false'],
    ['input', { input: undefined }, 'a string or an array'],
    ['input', { input: null }, 'a string or an array'],
    ['input', { input: {} }, 'a string or an array'],
    ['max_output_tokens', { max_output_tokens: 0 }, 'an integer'],
    ['max_output_tokens', { max_output_tokens: '9' }, 'an integer'],
    ['stream', { stream: 1 }, 'true or false'],
    ['model', { model: '' }, 'a non-empty string'],
  ])('a request is rejected for its %s in %j', (param, body, words) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        message: expect.stringContaining(words),
        extras: expect.objectContaining({ param }),
      }),
    )
  })

  test.each([
    '"Model":"b"',
    '"input":"b"',
    '"max_output_tokens":1,"MAX_OUTPUT_TOKENS":2',
    '"background":false,"background":true',
  ])('a request with the additional %s is ambiguous', members => {
    const json = `{"model":"m","input":"a",${members}}`

    expect(() => dialect.readRequest(parseJsonObject(sentText(json)))).toThrow(
      expect.objectContaining({ code: 'ambiguous_field' }),
    )
  })
})

describe('an answer', () => {
  const json =
    '{"id":"resp_1","object":"response","x":1.0,"status":"completed","model":"up","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":16}}'

  test('an answer has its usage read, with details in their own buckets', () => {
    const answer = dialect.readAnswer(json, noLimits)

    expect(answer!.usage).toEqual({ ...NO_USAGE, input: 5, cachedInput: 4, output: 2, reasoning: 5 })
  })

  test('an answer reaches the client with the same bytes except for the model and the cost', () => {
    const answer = dialect.readAnswer(json, noLimits)

    const reply = dialect.forClient(answer!, { model: 'm', cost: usd('0.0001') })

    expect(reply).toBe(json.replace('"up"', '"m"').replace('":16}', '":16,"cost_usd":"0.0001"}'))
  })

  test('an answer has the upstream’s own cost', () => {
    const answer = dialect.readAnswer(json.replace('":16}', '":16,"cost":0.00012}'), noLimits)

    expect(answer!.reportedCost).toEqual(parseExactUsd('0.00012')!)
  })

  test('an answer without output is not empty: a response never fails over for that', () => {
    expect(dialect.readAnswer(json, noLimits)!.isEmpty).toBe(false)
  })

  test('an answer is known by its output when its object is not "response"', () => {
    expect(dialect.readAnswer('{"output":[]}', noLimits)).toMatchObject({ usage: null })
  })

  test.each([
    '<html>',
    '{"object":"response"',
    '{"error":{"message":"x"}}',
    '{"object":"chat.completion","choices":[]}',
    '[]',
    '',
  ])('an answer is not read from %j', body => {
    expect(dialect.readAnswer(body, noLimits)).toBeUndefined()
  })

  test('an answer has the texts that the model wrote, for a tokenizer', () => {
    const output = [
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'a' }],
        content: [{ type: 'reasoning_text', text: 'b' }],
      },
      {
        type: 'message',
        content: [
          { type: 'output_text', text: 'c', annotations: [] },
          { type: 'refusal', refusal: 'd' },
        ],
      },
      { type: 'function_call', id: 'x', call_id: 'y', name: 'e', arguments: 'f' },
      { type: 'custom_tool_call', name: 'g', input: 'h' },
      'odd',
      null,
    ]

    const answer = dialect.readAnswer(JSON.stringify({ object: 'response', output }), noLimits)

    expect([...answer!.texts()].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  })
})
