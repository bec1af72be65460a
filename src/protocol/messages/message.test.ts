import { describe, expect, test } from 'bun:test'
import { messageOf } from './message.ts'

const text = (text: string) => ({ type: 'text' as const, text })
const use = (id: string, inputJson: string, name = 'f') => ({
  type: 'tool_use' as const,
  id,
  name,
  inputJson,
})
const called = (id: unknown, args: unknown, name: unknown = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

function fold(message: unknown, finishReason: unknown = 'stop') {
  return messageOf(
    { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: finishReason }] },
    () => 'req_1',
  )
}

describe('blocks', () => {
  const cases: [title: string, message: unknown, blocks: unknown[]][] = [
    ['the content is a text block', { content: 'hi' }, [text('hi')]],
    ['null content adds no block', { content: null }, []],
    ['empty content adds no block', { content: '' }, []],
    [
      'each content part is a block',
      { content: [text('a'), { type: 'refusal', refusal: 'b' }] },
      [text('a'), text('b')],
    ],
    [
      'parts of other types add no block',
      { content: [{ type: 'audio', audio: {} }, text('a'), 'x'] },
      [text('a')],
    ],
    ['a refusal is a text block', { content: null, refusal: 'I will not.' }, [text('I will not.')]],
    ['reasoning adds no block', { content: 'a', reasoning_content: 'hm', reasoning: 'hm' }, [text('a')]],
    [
      'parallel calls follow the text, and keep their ids and order',
      { content: 'a', tool_calls: [called('c2', '{"x":1}', 'g'), called('c1', '{}')] },
      [text('a'), use('c2', '{"x":1}', 'g'), use('c1', '{}')],
    ],
    [
      'arguments keep their digits',
      { tool_calls: [called('c', '{"id":12345678901234567890}')] },
      [use('c', '{"id":12345678901234567890}')],
    ],
    ['empty arguments are an empty object', { tool_calls: [called('c', '')] }, [use('c', '{}')]],
    ['arguments of only spaces are an empty object', { tool_calls: [called('c', ' \n')] }, [use('c', '{}')]],
    ['absent arguments are an empty object', { tool_calls: [called('c', undefined)] }, [use('c', '{}')]],
    ['null arguments are an empty object', { tool_calls: [called('c', 'null')] }, [use('c', '{}')]],
    [
      'arguments that are already an object are not changed',
      { tool_calls: [called('c', { a: 1 })] },
      [use('c', '{"a":1}')],
    ],
    [
      'truncated arguments are passed on as text',
      { tool_calls: [called('c', '{"a":"b')] },
      [use('c', '{"raw_arguments":"{\\"a\\":\\"b"}')],
    ],
    [
      'arguments that are not an object are passed on as text',
      { tool_calls: [called('c', '[1]')] },
      [use('c', '{"raw_arguments":"[1]"}')],
    ],
    [
      'each call without an id gets one',
      { tool_calls: [called('', '{}'), called(undefined, '{}')] },
      [use('call_chatcmpl-1_0', '{}'), use('call_chatcmpl-1_1', '{}')],
    ],
    ['a call without a name adds no block', { tool_calls: [{ id: 'c' }, 'x', called('d', '{}', '')] }, []],
    [
      'a single call in the older format is a block',
      { function_call: { name: 'f', arguments: '{"a":1}' } },
      [use('call_chatcmpl-1_0', '{"a":1}')],
    ],
    ['a missing message adds no block', undefined, []],
  ]

  test.each(cases)('blocks: %s', (_title, message, blocks) => {
    const folded = fold(message)

    expect(folded.blocks).toEqual(blocks as never)
  })
})

describe('the stop reason', () => {
  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'stop_sequence'],
    ['something_new', 'end_turn'],
    [null, 'end_turn'],
  ])('the stop reason for %p is %s', (finishReason, stopReason) => {
    const folded = fold({ content: 'a' }, finishReason)

    expect(folded.stopReason).toBe(stopReason as never)
  })

  test('the stop reason depends on the calls when the upstream sent none', () => {
    const folded = fold({ tool_calls: [called('c', '{}')] }, null)

    expect(folded.stopReason).toBe('tool_use')
  })
})

test('the id is the upstream’s', () => {
  expect(fold({ content: 'a' }).id).toBe('chatcmpl-1')
})

test.each([[{}], [{ id: '' }], [{ id: 7, choices: {} }]])(
  'an answer without an id gets one from the gateway: %j',
  completion => {
    expect(messageOf(completion, () => 'req_1')).toEqual({ id: 'req_1', blocks: [], stopReason: 'end_turn' })
  },
)
