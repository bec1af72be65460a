import { describe, expect, test } from 'bun:test'
import { decodeModel, encodeModel } from './model-row.ts'
import { problemSentence } from './problem.ts'

const CHAT = {
  id: 'x',
  kind: 'chat',
  upstreams: [{ provider: 'main', model: 'x' }],
  pricing: 'free',
  max_output_tokens: 1,
}

function rowWith(fields: object) {
  const decoded = decodeModel({ ...CHAT, ...fields })
  if (!decoded.ok) throw new Error(decoded.problems.map(problem => problemSentence(problem)).join(' '))
  return decoded.value
}

/** The fields that the row has beside those of every row here. */
function writtenBy(fields: object): object {
  const row = Object.entries(encodeModel(rowWith(fields)))
  return Object.fromEntries(row.filter(([field]) => field !== 'enabled' && !Object.hasOwn(CHAT, field)))
}

function problemsOf(fields: object): string[] {
  const decoded = decodeModel({ ...CHAT, ...fields })
  return decoded.ok ? [] : decoded.problems.map(problem => problemSentence(problem))
}

describe('preset: coding-agent', () => {
  test('the preset coding-agent stands for live conversion, ten minutes of silence, usage of every stream and heartbeats', () => {
    expect(rowWith({ preset: 'coding-agent' })).toMatchObject({
      preset: 'coding-agent',
      messagesStream: 'live',
      streamIdleTimeoutMs: 600_000,
      streamUsage: 'ask',
      heartbeats: true,
    })
  })

  test.each<[object, object]>([
    [{ messages_stream: 'synthetic' }, { messagesStream: undefined }],
    [{ stream_idle_timeout_s: 90 }, { streamIdleTimeoutMs: 90_000 }],
    [{ stream_usage: 'client' }, { streamUsage: 'client' }],
    [{ heartbeats: false }, { heartbeats: undefined }],
  ])(
    'the preset coding-agent gives way to the explicit field %j, which is written back',
    (explicit, settings) => {
      const fields = { preset: 'coding-agent', ...explicit }
      const row: Readonly<Record<string, unknown>> = { ...rowWith(fields) }

      for (const [name, value] of Object.entries(settings)) expect(row[name]).toBe(value)
      expect(writtenBy(fields)).toEqual(fields)
    },
  )

  test('the preset coding-agent is written back alone, without the fields that it stands for', () => {
    const fields = { preset: 'coding-agent', stream_usage: 'ask', messages_stream: null }

    expect(writtenBy(fields)).toEqual({ preset: 'coding-agent' })
  })

  test('the preset coding-agent does not stand for a field that another part of the row needs', () => {
    expect(writtenBy({ preset: 'coding-agent', read_timeout_s: 900, replays: false })).toEqual({
      preset: 'coding-agent',
      read_timeout_s: 900,
      replays: false,
    })
  })
})

describe('the inputs of a chat model', () => {
  test.each<object>([
    { inputs: ['text'] },
    { inputs: ['text', 'image', 'file', 'audio'], unsupported_inputs: 'note' },
    { stream_usage: 'ask', heartbeats: true },
    { stream_usage: 'client' },
  ])('%j is written back', fields => {
    expect(writtenBy(fields)).toEqual(fields)
  })

  test.each<[object, string]>([
    [{ inputs: [] }, 'inputs is empty; list the kinds of input that the model reads, such as [text, image].'],
    [{ inputs: ['image'] }, 'inputs lacks text; add text, because every request has it.'],
    [
      { inputs: ['text', 'images'] },
      'inputs[1] is "images"; write one of text, image, file, audio (did you mean "image"?).',
    ],
    [
      { unsupported_inputs: 'note' },
      'unsupported_inputs is only used with inputs; list the inputs of the model, or leave it out.',
    ],
    [
      { inputs: ['text'], unsupported_inputs: 'drop' },
      'unsupported_inputs is "drop"; write one of refuse, note.',
    ],
    [{ preset: 'agent' }, 'preset is "agent"; write one of coding-agent (did you mean "coding-agent"?).'],
    [{ stream_usage: 'yes' }, 'stream_usage is "yes"; write one of ask, client.'],
  ])('%j is a problem that names the field and a valid value', (fields, sentence) => {
    expect(problemsOf(fields)).toEqual([sentence])
  })

  test('the default of unsupported_inputs is not written', () => {
    expect(writtenBy({ inputs: ['text'], unsupported_inputs: 'refuse' })).toEqual({ inputs: ['text'] })
  })
})
