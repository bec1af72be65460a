import { describe, expect, test } from 'bun:test'
import { chunkFrame, runStream } from '../../../test/support/chat-stream-run.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE, type Usage } from '../../domain/pricing/usage.ts'

const DONE = 'data: [DONE]\n\n'
const stop = chunkFrame({}, { finish: 'stop' })

function reading(frames: readonly string[], choices = 1) {
  return runStream(frames, { choices }).reading
}

function choiceFrame(index: number, finish: unknown = null): string {
  return chunkFrame({}, { choices: [{ index, delta: { content: 'x' }, finish_reason: finish }] })
}

describe('output', () => {
  const deltas: [title: string, delta: object, texts: string[]][] = [
    ['an answer', { role: 'assistant', content: 'Hi' }, ['Hi']],
    ['a refusal', { content: null, refusal: 'No.' }, ['No.']],
    ['reasoning_content', { content: null, reasoning_content: 'Hm' }, ['Hm']],
    ['reasoning', { content: '', reasoning: 'Hm' }, ['Hm']],
    ['reasoning under both names, once', { reasoning_content: 'Hm', reasoning: 'Hm' }, ['Hm']],
    [
      'the names and arguments of tool calls',
      {
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":' } },
          { index: 1, function: { arguments: '1}' } },
        ],
      },
      ['add{"a":1}'],
    ],
    ['the older function call', { function_call: { name: 'add', arguments: '{}' } }, ['add{}']],
    ['the transcript of audio', { audio: { data: 'AAAA', transcript: 'Hi' } }, ['Hi']],
    [
      'content in parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
          { type: 'text', text: 'Hi' },
        ],
      },
      ['HmHi'],
    ],
  ]

  test.each(deltas)('output includes %s', (_, delta, texts) => {
    const read = reading([chunkFrame(delta)])

    expect(read.outputBegan).toBe(true)
    expect(read.texts).toEqual(texts)
  })

  const silent: [title: string, frame: string][] = [
    ['a role', chunkFrame({ role: 'assistant', content: '' })],
    ['a finish reason', stop],
    ['a comment', ': still here\n\n'],
    ['data that is not JSON', 'data: hello\n\n'],
    ['JSON that is not an object', 'data: "hello"\n\n'],
    [
      'malformed choices',
      'data: {"choices":[null,1,{"delta":"x"},{"delta":{"content":1,"tool_calls":[null]}}]}\n\n',
    ],
    ['an error', 'data: {"error":{"message":"You have used too much."}}\n\n'],
    ['the text beside an error', chunkFrame({ content: 'Sorry' }, { finish: 'error', error: { code: 502 } })],
    ['half a chunk', chunkFrame({ content: 'Hi' }).slice(0, -20)],
  ]

  test.each(silent)('output does not include %s', (_, frame) => {
    expect(reading([frame])).toMatchObject({ outputBegan: false, texts: [] })
  })

  test('output includes audio without a transcript, although it has no text', () => {
    expect(reading([chunkFrame({ audio: { data: 'AAAA' } })])).toMatchObject({ outputBegan: true, texts: [] })
  })

  test('output is collected separately for each choice', () => {
    const frame = (index: number, content: string) =>
      chunkFrame({}, { choices: [{ index, delta: { content } }] })

    const { texts } = reading([frame(0, 'un'), frame(1, 'de'), frame(0, 'der'), frame(1, 'lay')], 2)

    expect(texts).toEqual(['under', 'delay'])
  })
})

describe('a stream ends well', () => {
  const ends: [title: string, endedWell: boolean, frames: string[], choices: number][] = [
    ['when [DONE] came', true, [choiceFrame(0), DONE], 1],
    ['when [DONE] came without its blank line', true, [choiceFrame(0), 'data: [DONE]'], 1],
    ['when its only choice finished', true, [choiceFrame(0, 'length')], 1],
    ['when every choice finished', true, [choiceFrame(0, 'stop'), choiceFrame(1, 'stop')], 2],
    ['not when one of two choices finished', false, [choiceFrame(0), choiceFrame(1, 'stop')], 2],
    ['not when one of two choices never came', false, [choiceFrame(0, 'stop')], 2],
    ['not when an extra choice is open', false, [choiceFrame(0, 'stop'), choiceFrame(1)], 1],
    ['not when the finish reason is empty', false, [choiceFrame(0, '')], 1],
    ['not when nothing came', false, [], 1],
    ['not when only a usage came', false, [chunkFrame({}, { choices: [], usage: { prompt_tokens: 1 } })], 1],
    ['not when an error came', false, [stop, 'data: {"error":"overloaded"}\n\n', DONE], 1],
    ['not when an error event came', false, [stop, 'event: error\ndata: {}\n\n', DONE], 1],
    ['when its chunks have an error of null', true, [chunkFrame({}, { error: null }), DONE], 1],
  ]

  test.each(ends)('a stream ends well %s', (_, endedWell, frames, choices) => {
    expect(reading(frames, choices).endedWell).toBe(endedWell)
  })
})

describe('the usage of a stream', () => {
  const counts = { prompt_tokens: 3, completion_tokens: 1 }
  const later = { prompt_tokens: 3, completion_tokens: 2 }
  const first = { ...NO_USAGE, input: 3, output: 1 }
  const last = { ...NO_USAGE, input: 3, output: 2 }

  const habits: [title: string, frames: string[], usage: Usage | null][] = [
    ['is read from a frame without choices', [stop, chunkFrame({}, { choices: [], usage: counts })], first],
    ['is read from a chunk with choices', [chunkFrame({ content: 'x' }, { usage: counts }), stop], first],
    [
      'is read from inside a choice',
      [chunkFrame({}, { choices: [{ index: 0, delta: {}, usage: counts }] })],
      first,
    ],
    [
      'is read from x_groq in the last chunk, as Groq reports it',
      [
        chunkFrame({ content: 'x' }, { x_groq: { id: 'req_1' } }),
        chunkFrame({}, { finish: 'stop', x_groq: { id: 'req_1', usage: { queue_time: 0.02, ...counts } } }),
      ],
      first,
    ],
    [
      'is read from beside x_groq, if it is in both',
      [chunkFrame({}, { usage: later, x_groq: { usage: counts } })],
      last,
    ],
    [
      'is the last one when it grows',
      [chunkFrame({}, { usage: counts }), chunkFrame({}, { usage: later })],
      last,
    ],
    ['is not removed by null', [chunkFrame({}, { usage: counts }), chunkFrame({}, { usage: null })], first],
    [
      'is not removed by an empty object',
      [chunkFrame({}, { usage: counts }), chunkFrame({}, { usage: {} })],
      first,
    ],
    ['is read from beside an error', [chunkFrame({}, { usage: counts, error: { code: 502 } })], first],
    ['may be zero', [chunkFrame({}, { usage: { prompt_tokens: 0, completion_tokens: 0 } })], NO_USAGE],
    ['is absent', [chunkFrame({ content: 'x' }), stop], null],
  ]

  test.each(habits)('the usage of a stream %s', (_, frames, usage) => {
    expect(reading([...frames, DONE])).toMatchObject({ usage, isClamped: false })
  })

  test('the usage of a stream is clamped to the limits of the model', () => {
    const limits = { inputTokensMax: 10, outputTokensMax: 10 }
    const frame = chunkFrame({}, { usage: { prompt_tokens: -1, completion_tokens: 11 } })

    expect(runStream([frame, DONE], { limits }).reading).toMatchObject({
      usage: { ...NO_USAGE, output: 10 },
      isClamped: true,
    })
  })

  test('the usage of a stream has the upstream’s own cost in the field that its row names', () => {
    const limits = {
      inputTokensMax: undefined,
      outputTokensMax: undefined,
      costField: { path: ['cost_in_usd_ticks'], unitDecimals: 10 },
    }
    const frame = chunkFrame({}, { choices: [], usage: { prompt_tokens: 1, cost_in_usd_ticks: 37_756_000 } })

    const { reportedCost } = runStream([frame, DONE], { limits }).reading

    expect(reportedCost).toEqual(parseExactUsd('0.0037756000')!)
  })

  test('the usage of a stream has the upstream’s own cost to its last digit', () => {
    const frame =
      'data: {"choices":[],\r\ndata: "usage":{"prompt_tokens":1,"cost":0.0000000010000000000000001}}\r\n\r\n'

    expect(reading([frame, DONE]).reportedCost).toEqual(parseExactUsd('0.0000000010000000000000001')!)
    expect(reading([stop, DONE]).reportedCost).toBeNull()
  })
})

test('a stream with ever new choices is metered in bounded memory', () => {
  const frames = Array.from({ length: 500 }, (_, index) => choiceFrame(index))

  expect(reading(frames).texts.length).toBeLessThanOrEqual(128)
})
