import { describe, expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { answerForClient } from '../pass-through.ts'
import { readChatAnswer } from './answer.ts'

const LIMITS = { inputTokensMax: 1000, outputTokensMax: 100 }

const readText = (text: string) => readChatAnswer(text, LIMITS)
const read = (fields: object) => readText(JSON.stringify({ id: 'c1', model: 'up', choices: [], ...fields }))!
const saying = (message: object, finish = 'stop') =>
  read({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }] })

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
  expect(readText(text)).toBeUndefined()
})

test('an answer has its usage, whether it was clamped, and the upstream’s cost', () => {
  const answer = read({ usage: { prompt_tokens: 5, completion_tokens: 500, cost: 0.000_012_5 } })

  expect(answer).toMatchObject({
    usage: { ...NO_USAGE, input: 5, output: 100 },
    isClamped: true,
    reportedCost: parseExactUsd('0.0000125')!,
  })
})

test('an answer without usage has no cost', () => {
  expect(read({})).toMatchObject({ usage: null, isClamped: false, reportedCost: null })
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
  ])('%j', message => {
    expect(saying(message).isEmpty).toBe(true)
  })

  test('without choices', () => {
    expect(read({ choices: [] }).isEmpty).toBe(true)
    expect(read({ choices: [null, {}] }).isEmpty).toBe(true)
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
  ])('%j', message => {
    expect(saying({ content: null, ...message }).isEmpty).toBe(false)
  })

  test('with content in a later choice', () => {
    const choices = [{ message: { content: '' } }, { message: { content: 'hi' } }]

    expect(read({ choices }).isEmpty).toBe(false)
  })

  test.each(['length', 'content_filter'])('when it was cut by %s', finish => {
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
  const answer = readText(
    '{"x":1.0,"x":1e400,"model":"up","choices":[{"message":{"content":"\\ud800"}}],"usage":{"prompt_tokens":1}}',
  )

  const reply = answerForClient(answer!, { model: 'gpt-x', cost: usd('0.000001') })

  expect(reply).toBe(
    '{"x":1.0,"x":1e400,"model":"gpt-x","choices":[{"message":{"content":"\\ud800"}}],"usage":{"prompt_tokens":1,"cost_usd":"0.000001"}}',
  )
})
