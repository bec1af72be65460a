import { describe, expect, test } from 'bun:test'
import { chunkFrame, runStream } from '../../../test/support/chat-stream-run.ts'
import { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { ChatStream } from './chat-stream.ts'
import { TAIL_BYTES_MAX } from './deferred-tail.ts'

const DONE = 'data: [DONE]\n\n'
const hello = chunkFrame({ content: 'Hello' })
const stop = chunkFrame({}, { finish: 'stop' })
const counts = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
const usage = chunkFrame({}, { choices: [], usage: counts })
const failure = new GatewayError('upstream_error', 'The model stopped in the middle of its answer.')
const errorFrame =
  'data: {"error":{"message":"The model stopped in the middle of its answer.","type":"upstream_error","code":"upstream_error","param":null}}\n\n'

/** The frame with the catalog's name of the model. */
function renamed(frame: string): string {
  return frame.replaceAll('"model":"up-1"', '"model":"row"')
}

function costed(frame: string): string {
  return renamed(frame).replace(/("usage":\{[^}]*)\}/, '$1,"cost_usd":"0.25"}')
}

describe('a stream relayed byte for byte', () => {
  const deferred: [title: string, frames: string[], after: string][] = [
    ['[DONE]', [hello, stop, DONE], DONE],
    ['[DONE] and everything after it', [hello, stop, DONE, ': bye\n', 'junk'], `${DONE}: bye\njunk`],
    ['[DONE] without a blank line', [hello, stop, 'data: [DONE]'], 'data: [DONE]'],
    ['[DONE] in CRLF', [hello, stop, 'data: [DONE]\r\n\r\n'], 'data: [DONE]\r\n\r\n'],
    ['the finishing chunk when no [DONE] comes', [hello, stop], stop],
    ['the usage frame when no [DONE] comes', [hello, stop, usage], usage],
    ['the usage frame when no choice finishes', [hello, usage], usage],
    ['a comment after the usage frame', [hello, usage, ': ping\n\n'], `${usage}: ping\n\n`],
  ]

  test.each(deferred)('a stream relayed byte for byte defers until the charge: %s', (_, frames, after) => {
    const run = runStream(frames)

    expect(run.before + run.after).toBe(frames.join(''))
    expect(run.after).toBe(after)
  })

  test('a stream relayed byte for byte keeps the model and the cost of the upstream', () => {
    const frames = [hello, chunkFrame({}, { choices: [], usage: { ...counts, cost_usd: '9' } }), DONE]

    const run = runStream(frames, { charge: { cost: usd('0.25'), usage: NO_USAGE } })

    expect(run.before + run.after).toBe(frames.join(''))
  })

  test('a stream relayed byte for byte sends a chunk at once while its choices are open', () => {
    expect(runStream([hello, chunkFrame({ content: '!' }, { usage: counts })]).after).toBe('')
  })

  test('a stream relayed byte for byte sends a finished choice when another one continues', () => {
    const second = chunkFrame({}, { choices: [{ index: 1, delta: { content: 'Hi' }, finish_reason: null }] })

    expect(runStream([stop, second], { choices: 1 })).toMatchObject({ before: stop + second, after: '' })
    expect(runStream([stop, second], { choices: 2 })).toMatchObject({ before: stop + second, after: '' })
  })

  test('a stream relayed byte for byte does not defer more than the limit', () => {
    const heartbeat = `: ${'x'.repeat(1000)}\n`
    const frames = [stop, ...(Array(100).fill(heartbeat) as string[])]

    const run = runStream(frames)

    expect(run.before + run.after).toBe(frames.join(''))
    expect(run.after.length).toBeLessThanOrEqual(TAIL_BYTES_MAX)
    expect(run.before).toStartWith(stop)
  })

  test('a stream relayed byte for byte keeps unreadable frames until the first readable chunk', () => {
    const stream = runStream(['data: junk\n\n', ': ping\n\n'])
    const begun = runStream(['data: junk\n\n', ': ping\n\n', hello, 'data: junk\n\n'])

    expect(stream.before).toBe('')
    expect(begun.before).toBe(`data: junk\n\n: ping\n\n${hello}data: junk\n\n`)
  })

  test('a stream relayed byte for byte does not keep more unreadable frames than the limit', () => {
    const junk = `data: ${'x'.repeat(1000)}\n\n`

    expect(runStream(Array(100).fill(junk) as string[]).after.length).toBeLessThanOrEqual(TAIL_BYTES_MAX)
  })

  test('a stream relayed byte for byte does not keep more after [DONE] than the limit', () => {
    const { after } = runStream([DONE, `${'x'.repeat(TAIL_BYTES_MAX)}\n\n`, 'data: {}\n\n'])

    expect(after).toBe(`${DONE}data: {}\n\n`)
  })
})

describe('a stream with include_usage', () => {
  const charge = { cost: usd('0.25'), usage: { ...NO_USAGE, input: 7, output: 2, reasoning: 1 } }
  const made = `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    created: 1_700_000_000,
    object: 'chat.completion.chunk',
    model: 'row',
    choices: [],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, cost_usd: '0.25' },
  })}\n\n`
  const stopWithUsage = chunkFrame({}, { finish: 'stop', usage: counts })
  const cumulative = (content: string) => chunkFrame({ content }, { usage: counts })
  const opening = chunkFrame({}, { choices: [], id: '', created: 0 })
  const empty = chunkFrame({}, { choices: [] })

  const habits: [habit: string, frames: string[], before: string, after: string][] = [
    ['sends a usage frame', [hello, stop, usage, DONE], renamed(hello + stop), costed(usage) + DONE],
    ['sends no [DONE]', [hello, stop, usage], renamed(hello + stop), costed(usage) + DONE],
    [
      'sends no blank line at the end',
      [hello, stop, usage.trim()],
      renamed(hello + stop),
      `${costed(usage).trim()}\n\n${DONE}`,
    ],
    [
      'reports usage in its last chunk',
      [hello, stopWithUsage, DONE],
      renamed(hello),
      costed(stopWithUsage) + DONE,
    ],
    [
      'reports usage in its last chunk and again',
      [hello, stopWithUsage, usage, DONE],
      renamed(hello + stopWithUsage),
      costed(usage) + DONE,
    ],
    [
      'reports cumulative usage in every chunk',
      [cumulative('a'), cumulative('b'), stopWithUsage, DONE],
      renamed(cumulative('a') + cumulative('b')),
      costed(stopWithUsage) + DONE,
    ],
    [
      'reports cumulative usage in frames between the chunks',
      [hello, usage, hello, usage, stop, usage, DONE],
      renamed(hello + usage + hello + usage + stop),
      costed(usage) + DONE,
    ],
    [
      'reports a usage of null in ordinary chunks',
      [chunkFrame({ content: 'a' }, { usage: null }), stop, usage, DONE],
      renamed(chunkFrame({ content: 'a' }, { usage: null }) + stop),
      costed(usage) + DONE,
    ],
    ['reports no usage', [hello, stop, DONE], renamed(hello + stop), made + DONE],
    ['reports no usage and sends no [DONE]', [hello, stop], renamed(hello), renamed(stop) + made + DONE],
    [
      'reports no usage and sends no blank line',
      [hello, stop.trim()],
      renamed(hello),
      `${renamed(stop).trim()}\n\n${made}${DONE}`,
    ],
    [
      'opens with an empty chunk and reports no usage',
      [opening, stop, DONE],
      renamed(opening + stop),
      made + DONE,
    ],
    [
      'reports usage before it finishes',
      [hello, cumulative('b'), stop, DONE],
      renamed(hello + cumulative('b') + stop),
      made + DONE,
    ],
    [
      'sends empty chunks after the usage',
      [stop, usage, empty, ': ping\n\n', DONE],
      renamed(stop),
      `${costed(usage)}${renamed(empty)}: ping\n\n${DONE}`,
    ],
    [
      'reports a cost of its own',
      [stop, chunkFrame({}, { choices: [], usage: { cost_usd: '9', ...counts } }), DONE],
      renamed(stop),
      renamed(chunkFrame({}, { choices: [], usage: { ...counts, cost_usd: '0.25' } })) + DONE,
    ],
    [
      'sends data that is not JSON',
      [hello, 'data: ok\n\n', stop, usage, DONE],
      `${renamed(hello)}data: ok\n\n${renamed(stop)}`,
      costed(usage) + DONE,
    ],
  ]

  test.each(habits)(
    'a stream with include_usage has its cost once, at its end, when the upstream %s',
    (_, frames, before, after) => {
      const run = runStream(frames, { rewriteModel: 'row', charge })

      expect(run.before).toBe(before)
      expect(run.after).toBe(after)
    },
  )
})

describe('a stream with include_usage', () => {
  test('a stream with include_usage has no cost, not even the upstream’s, when the charge has none', () => {
    const charge = { cost: null, usage: NO_USAGE }
    const own = chunkFrame({}, { choices: [], usage: { ...counts, cost_usd: '9' } })

    expect(runStream([stop, own, DONE], { rewriteModel: 'row', charge }).after).toBe(renamed(usage) + DONE)
    expect(runStream([stop, DONE], { rewriteModel: 'row', charge }).after).toBe(DONE)
  })

  test('a stream with include_usage keeps every byte except the model’s name', () => {
    const frame =
      'event:  x\ndata:{ "n":1.0, "mod\\u0065l" : "up", "big":12345678901234567890,\r\ndata: "x":"\\ud800🙂" }\r\n\r\n'

    const run = runStream([frame, DONE], { rewriteModel: 'a "quoted" name' })

    expect(run.before).toBe(frame.replace('"up"', '"a \\"quoted\\" name"'))
  })

  test('a stream with include_usage renames chunks of different upstream models', () => {
    const frames = ['up-1', 'up-2', 'up-1', 'row', 'up-12'].map(model =>
      chunkFrame({ content: 'x' }, { model }),
    )

    const run = runStream([...frames, DONE], { rewriteModel: 'row' })

    expect(run.before).toBe(chunkFrame({ content: 'x' }, { model: 'row' }).repeat(5))
  })

  test('a stream with include_usage adds the model to a chunk without one, and to nothing else', () => {
    const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"model"}}]}\n\n'
    const other = 'data: {"error":{"message":"overloaded"}}\n\ndata: {}\n\ndata: []\n\n'

    const run = runStream([chunk, hello, chunk, other, DONE], { rewriteModel: 'row' })

    const named = chunk.replace('{', '{"model":"row",')
    expect(run.before).toBe(named + renamed(hello) + named + other)
  })
})

describe('a stream that breaks', () => {
  const half = hello.slice(0, 60)
  const long = `data: {"choices":[{"delta":{"content":"${'x'.repeat(1024 * 1024)}`

  const ends: [how: string, reads: string[], sent: string][] = [
    ['before the first byte', [], errorFrame],
    ['between two chunks', [hello], hello + errorFrame],
    ['after a comment', [hello, ': ping\n'], `${hello}: ping\n${errorFrame}`],
    ['inside a comment', [hello, ': pi'], `${hello}: pi\n\n${errorFrame}`],
    ['inside a chunk', [hello, half], hello + errorFrame],
    ['inside a field name', [hello, 'da'], `${hello}da\n\n${errorFrame}`],
    ['inside the word [DONE]', [hello, 'data: [DON'], hello + errorFrame],
    ['before the blank line of a chunk', [hello, hello.trim()], `${hello}${hello.trim()}\n\n${errorFrame}`],
    ['inside a chunk too long to keep', [hello, long], `${hello}${long}\n\n${errorFrame}`],
    ['after the usage', [hello, usage], hello + usage + errorFrame],
  ]

  test.each(ends)('%s ends with a separate error frame and no [DONE]', (_, reads, sent) => {
    const run = runStream(reads, { failure })

    expect(run.before + run.after).toBe(sent)
    expect(run.reading.endedWell).toBe(false)
  })

  test('a stream that breaks after the usage still has the charged cost', () => {
    const charge = { cost: usd('0.25'), usage: NO_USAGE }

    const { after } = runStream([hello, usage], { rewriteModel: 'row', charge, failure })

    expect(after).toBe(costed(usage) + errorFrame)
  })

  test('a stream that breaks without a usage gets no usage frame', () => {
    const charge = { cost: usd('0.25'), usage: NO_USAGE }

    expect(runStream([hello], { rewriteModel: 'row', charge, failure }).after).toBe(errorFrame)
  })

  test('a stream that breaks inside a character relays only complete frames', () => {
    const bytes = new TextEncoder().encode(chunkFrame({ content: '🙂' }))
    const cut = bytes.slice(0, bytes.indexOf(0xf0) + 2)

    expect(runStream([hello, cut], { failure }).before).toBe(hello)
  })

  test('a stream that breaks with an error from the upstream gets no second error and no [DONE]', () => {
    const error = 'data: {"error":{"message":"overloaded"}}\n\n'

    const run = runStream([hello, error, DONE], { failure })

    expect(run.before + run.after).toBe(hello + error)
    expect(run.reading).toMatchObject({ endedWell: false, errorSeen: true })
  })

  test('a stream that breaks with an error event of another dialect gets one of its own dialect', () => {
    const error = 'event: error\ndata: {"message":"overloaded"}\n\n'

    expect(runStream([hello, error], { failure }).after).toBe(errorFrame)
  })

  test('a stream that breaks because the charge failed gets an error instead of [DONE]', () => {
    expect(runStream([hello, stop, DONE], { failure }).after).toBe(errorFrame)
  })
})

describe('a heartbeat', () => {
  const open = (rewriteModel: string | null) =>
    new ChatStream({
      choices: 1,
      limits: { inputTokensMax: undefined, outputTokensMax: undefined },
      rewriteModel,
    })
  const bytes = (text: string) => new TextEncoder().encode(text)

  test('a heartbeat is a comment between frames', () => {
    const stream = open('row')
    stream.feed(bytes(chunkFrame({ content: 'a' })))

    expect(stream.heartbeat?.bytes()).toEqual(bytes(': heartbeat\n\n'))
  })

  test('a heartbeat is not sent inside a frame that is too large to keep', () => {
    const stream = open('row')
    stream.feed(bytes(`data: {"choices":[{"delta":{"content":"${'x'.repeat(1024 * 1024)}`))
    const inside = stream.heartbeat?.bytes()
    stream.feed(bytes('"}}]}\n\n'))

    expect(inside).toHaveLength(0)
    expect(stream.heartbeat?.bytes()).not.toHaveLength(0)
  })

  test('a heartbeat does not exist in a stream that is relayed byte for byte', () => {
    expect(open(null).heartbeat).toBeUndefined()
  })
})
