import { describe, expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import type { Message } from './message.ts'
import { messageEvents, messageJson } from './reply.ts'

const usage = { ...NO_USAGE, input: 9, output: 3, reasoning: 4 }
const receipt = { model: 'gpt-x', usage, cost: usd('0.0015') }
const message: Message = {
  id: 'chatcmpl-1',
  blocks: [
    { type: 'text', text: 'Let me "see".' },
    { type: 'tool_use', id: 'c1', name: 'f', inputJson: '{"id": 7}' },
    { type: 'tool_use', id: 'c2', name: 'g', inputJson: '{}' },
  ],
  stopReason: 'tool_use',
}

/** Reads every event like a client of the dialect, which ignores an event whose name is not its type. */
function eventsOf(stream: string): Record<string, unknown>[] {
  expect(stream.endsWith('\n\n')).toBe(true)
  return stream
    .slice(0, -2)
    .split('\n\n')
    .map(frame => {
      const [, name, data] = /^event: (\w+)\ndata: ([^\n]*)$/.exec(frame)!
      const value = JSON.parse(data!)
      expect(value.type).toBe(name)
      return value
    })
}

describe('the JSON reply', () => {
  test('the JSON reply has the message, its blocks, the usage and the cost', () => {
    const reply = JSON.parse(messageJson(message, receipt))

    expect(reply).toEqual({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-x',
      content: [
        { type: 'text', text: 'Let me "see".' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { id: 7 } },
        { type: 'tool_use', id: 'c2', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 7, cost_usd: '0.0015' },
    })
  })

  test('the JSON reply keeps the digits of arguments', () => {
    const inputJson = '{"id": 12345678901234567890}'
    const blocks = [{ type: 'tool_use' as const, id: 'c1', name: 'f', inputJson }]

    const reply = messageJson({ ...message, blocks }, receipt)

    expect(reply).toContain(`"input":${inputJson}`)
  })

  test('the JSON reply has no cost when there is none', () => {
    const reply = JSON.parse(messageJson(message, { ...receipt, cost: null }))

    expect(reply.usage).toEqual({ input_tokens: 9, output_tokens: 7 })
  })

  test('the JSON reply counts the cache beside the input', () => {
    const cached = { ...usage, cachedInput: 100, cacheWrite: 20, audioInput: 1 }

    const reply = JSON.parse(messageJson(message, { ...receipt, usage: cached }))

    expect(reply.usage).toEqual({
      input_tokens: 10,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: 7,
      cost_usd: '0.0015',
    })
  })

  test('the JSON reply of an empty answer has no content', () => {
    const reply = JSON.parse(messageJson({ ...message, blocks: [] }, receipt))

    expect(reply.content).toEqual([])
  })
})

describe('the events', () => {
  test('the events have the cost first, then the blocks, and the output tokens last', () => {
    const events = eventsOf(messageEvents(message, receipt))

    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'chatcmpl-1',
          type: 'message',
          role: 'assistant',
          model: 'gpt-x',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 0, cost_usd: '0.0015' },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me "see".' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"id": 7}' },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'c2', name: 'g', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop', index: 2 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 7 },
      },
      { type: 'message_stop' },
    ])
  })

  test('the events: split a long text, but not a character', () => {
    const text = `${'x'.repeat(1023)}${'😀'.repeat(2000)}`

    const stream = messageEvents({ ...message, blocks: [{ type: 'text', text }] }, receipt)

    const deltas = eventsOf(stream).flatMap(
      ({ delta }) => (delta as { text?: string } | undefined)?.text ?? [],
    )
    expect(deltas.length).toBeGreaterThan(3)
    expect(deltas.every(delta => delta.isWellFormed() && delta.length <= 1024)).toBe(true)
    expect(deltas.join('')).toBe(text)
  })

  test('the events of an empty answer have no blocks', () => {
    const events = eventsOf(messageEvents({ ...message, blocks: [] }, receipt))

    expect(events.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop'])
  })
})
