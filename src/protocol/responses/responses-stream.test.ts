import { describe, expect, test } from 'bun:test'
import { shortLivedPieces } from '../../http1/testing/short-lived-pieces.ts'
import { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { ResponsesStream } from './responses-stream.ts'

const encoder = new TextEncoder()
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const counts = { input_tokens: 9, output_tokens: 7, total_tokens: 16 }
const usage = { ...NO_USAGE, input: 9, output: 7 }
const charge = { cost: usd('0.25'), usage }
const failure = new GatewayError('upstream_error', 'The upstream broke off.')

type Members = Record<string, unknown>

/** An event with its `event:` line, as most upstreams send it. */
function named(type: string, members: Members = {}): string {
  return `event: ${type}\n${bare(type, members)}`
}

/** An event without an `event:` line. */
function bare(type: string, members: Members = {}): string {
  return `data: ${JSON.stringify({ type, ...members })}\n\n`
}

const response = (members: Members = {}) => ({
  response: { id: 'resp_1', object: 'response', created_at: 1_700, model: 'up', ...members },
})
const created = (write = named) =>
  write('response.created', { ...response({ usage: null }), sequence_number: 0 })
const said = (delta: string, write = named) =>
  write('response.output_text.delta', { output_index: 0, delta, sequence_number: 4 })
const completed = (write = named) =>
  write('response.completed', response({ status: 'completed', usage: counts }))

function open() {
  return new ResponsesStream({
    limits: { inputTokensMax: undefined, outputTokensMax: undefined },
    model: 'gpt-x',
    fallback: { id: 'resp_ours', createdAtS: 1_800 },
  })
}

/** Feeds a stream in pieces of a size. Returns what the client got before the end, and at the end. */
function run(upstream: string, options: { pieces?: number; charge?: typeof charge | null } = {}) {
  const { pieces = Number.MAX_SAFE_INTEGER } = options
  const stream = open()
  const bytes = encoder.encode(upstream)
  const give = shortLivedPieces()
  let before = ''
  for (let at = 0; at < bytes.length; at += pieces)
    before += textOf(stream.feed(give(bytes.subarray(at, at + pieces))!))
  give(undefined)
  before += textOf(stream.end())
  const reading = stream.reading()
  const last = stream.finish(
    options.charge === undefined ? charge : options.charge,
    reading.endedWell ? null : failure,
  )
  return { before, reading, after: textOf(last), isDone: stream.isDone }
}

function dataOf(frame: string): { type: string; sequence_number: number; response: Members } {
  return JSON.parse(frame.slice(frame.indexOf('data: ') + 6))
}

describe('a stream of named events', () => {
  const upstream = created() + said('hi') + ': ping\n\n' + completed() + 'data: [DONE]\n\n'

  test('a stream of named events is relayed byte for byte', () => {
    const { before, after } = run(upstream)

    expect(before + after).toBe(upstream)
  })

  test('a stream of named events defers its last event until the charge is durable', () => {
    const { before, isDone } = run(upstream)

    expect(before).toBe(created() + said('hi') + ': ping\n\n')
    expect(isDone).toBe(true)
  })

  test.each([1, 2, 7, 50])('a stream of named events is the same in pieces of %d bytes', pieces => {
    const { before, after, reading } = run(upstream, { pieces })

    expect(before + after).toBe(upstream)
    expect(reading).toMatchObject({ endedWell: true, usage })
  })

  test('a stream of named events may have CRLF line ends, and no blank line at its end', () => {
    const crlf = upstream.replaceAll('\n', '\r\n').slice(0, -4)

    const { before, after, reading } = run(crlf)

    expect(before + after).toBe(crlf)
    expect(reading).toMatchObject({ endedWell: true, usage })
  })
})

describe('a frame without a readable event', () => {
  const junk = 'data: junk\n\n: ping\n\n'

  test('a frame without a readable event is kept until the first event, and sent at once after it', () => {
    expect(run(junk).before).toBe('')
    expect(run(junk + said('hi') + junk).before).toBe(junk + said('hi') + junk)
    expect(run(junk + completed())).toMatchObject({ before: junk, after: completed() })
    expect(run(`${junk}data: [DONE]\n\n`).before).toBe(junk)
  })

  test('a frame without a readable event is kept as a copy, because the bytes of a piece do not stay', () => {
    expect(run(junk + said('hi'), { pieces: junk.length }).before).toBe(junk + said('hi'))
  })

  test('a frame without a readable event is sent when too many bytes are kept', () => {
    const much = `data: ${'x'.repeat(1000)}\n\n`.repeat(100)

    expect(run(much).before.length).toBeGreaterThan(much.length / 2 - 1)
  })
})

describe('a stream of events without names', () => {
  test('a stream of events without names gets the logical model name in each response object, and the cost at the end', () => {
    const { before, after } = run(created(bare) + said('up', bare) + completed(bare))

    expect(before).toBe(created(bare).replace('"up"', '"gpt-x"') + said('up', bare))
    expect(after).toBe(
      completed(bare)
        .replace('"up"', '"gpt-x"')
        .replace('"total_tokens":16}', '"total_tokens":16,"cost_usd":"0.25"}'),
    )
  })

  test('a stream of events without names keeps every other byte of a rewritten frame', () => {
    const frame =
      'data:{"type":"response.completed", "response" :{"x":1.0,"usage": {"input_tokens":9,"output_tokens":7 },"model":"up"},"y":1e400}\r\n\r\n'

    const { after } = run(frame)

    expect(after).toBe(frame.replace('"up"', '"gpt-x"').replace('7 }', '7,"cost_usd":"0.25" }'))
  })

  test('a stream of events without names loses the upstream’s own cost when the charge has none', () => {
    const frame = bare('response.completed', response({ usage: { ...counts, cost_usd: '9' } }))

    const { after } = run(frame, { charge: null })

    expect(after).toBe(bare('response.completed', response({ model: 'gpt-x', usage: counts })))
  })

  test('a stream of events without names gets no cost when the upstream sends no usage', () => {
    const { after } = run(bare('response.completed', response({ usage: null })))

    expect(after).toBe(bare('response.completed', response({ model: 'gpt-x', usage: null })))
  })

  test('a stream of events without names is not changed when the name comes after the data', () => {
    const frame = `data: ${JSON.stringify({ ...response({ usage: counts }) })}\nevent: response.completed\n\n`

    const { after, reading } = run(frame)

    expect(after).toBe(frame)
    expect(reading.usage).toEqual(usage)
  })
})

describe('the reading', () => {
  test.each(['response.completed', 'response.incomplete', 'response.cancelled'])(
    'the reading ends well with %s, whose usage counts',
    type => {
      const { reading } = run(created() + said('hi') + named(type, response({ usage: counts })))

      expect(reading).toMatchObject({ endedWell: true, usage, outputBegan: true, errorSeen: false })
    },
  )

  test('the reading of response.failed is an error whose usage counts', () => {
    const { reading } = run(
      created() + named('response.failed', response({ usage: counts, error: { code: 'x' } })),
    )

    expect(reading).toMatchObject({ endedWell: false, usage, outputBegan: false, errorSeen: true })
  })

  test.each<[title: string, upstream: string]>([
    ['nothing', ''],
    ['no last event', created() + said('hi')],
    ['[DONE] alone', `${created()}data: [DONE]\n\n`],
    ['a truncated last event', `${created()}${completed().slice(0, -9)}`],
    ['an error event', created() + named('error', { message: 'x' })],
    ['an error of another dialect', `${created()}data: {"error":{"message":"x"}}\n\n`],
  ])('the reading of a stream with %s did not end well', (_title, upstream) => {
    expect(run(upstream).reading).toMatchObject({
      endedWell: false,
      usage: null,
      outputBegan: upstream.includes('hi'),
    })
  })

  test('the reading has the texts of every kind of delta, but not of an error', () => {
    const { reading } = run(
      created() +
        named('response.reasoning_summary_text.delta', { output_index: 0, delta: 'think' }) +
        said('ing') +
        named('response.output_item.added', {
          output_index: 1,
          item: { type: 'function_call', name: 'f', arguments: '' },
        }) +
        named('response.function_call_arguments.delta', { output_index: 1, delta: '{}' }) +
        named('response.output_audio.delta', { output_index: 2, delta: 'UklGRg==' }) +
        named('error', { delta: 'no', message: 'no' }),
    )

    expect(reading.texts()).toEqual(['thinking', 'f{}'])
  })

  test('the reading has the texts of the complete response when no delta came', () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'all at once' }] }]

    const { reading } = run(named('response.completed', response({ output })))

    expect(reading.texts()).toEqual(['all at once'])
    expect(reading.outputBegan).toBe(true)
  })

  test('the reading does not count the texts of the complete response after deltas', () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'hi' }] }]

    const { reading } = run(said('hi') + named('response.completed', response({ output })))

    expect(reading.texts()).toEqual(['hi'])
  })

  test.each([named, bare])('the reading has the upstream’s own cost to its last digit', write => {
    const frame = write('response.completed', response({ usage: { ...counts, cost: 0.000000123 } }))

    expect(run(frame).reading.reportedCost).toEqual(parseExactUsd('1.23e-7')!)
  })

  test('the reading reads a last event of several megabytes', () => {
    const output = [{ type: 'image_generation_call', result: 'A'.repeat(3_000_000) }]

    const { reading } = run(named('response.completed', response({ output, usage: counts })), {
      pieces: 65_536,
    })

    expect(reading).toMatchObject({ endedWell: true, usage })
  })
})

describe('a broken stream', () => {
  test('a broken stream ends with response.failed, with the id and the time of the stream', () => {
    const { before, after } = run(created() + said('hi'))

    expect(before).toBe(created() + said('hi'))
    expect(after).toStartWith('event: response.failed\ndata: {')
    expect(after).toEndWith('\n\n')
    expect(dataOf(after)).toMatchObject({
      type: 'response.failed',
      sequence_number: 5,
      response: {
        id: 'resp_1',
        object: 'response',
        created_at: 1_700,
        status: 'failed',
        model: 'gpt-x',
        output: [],
        error: { code: 'upstream_error', message: 'The upstream broke off.' },
        usage: { ...counts, cost_usd: '0.25' },
      },
    })
  })

  test('a broken stream without an id gets an id and a time from the gateway, and no usage when nothing was charged', () => {
    const { after } = run(said('hi').slice(0, -5), { charge: null })

    expect(dataOf(after)).toMatchObject({
      sequence_number: 0,
      response: { id: 'resp_ours', created_at: 1_800, usage: null },
    })
  })

  test('a broken stream sends no incomplete frame', () => {
    const { before } = run(created() + said('hi').slice(0, -8))

    expect(before).toBe(created())
  })

  test('a broken stream has no [DONE]', () => {
    const { before, after } = run(`${created()}data: [DONE]\n\n`)

    expect(before + after).not.toContain('[DONE]')
  })

  test('a broken stream gets a blank line before the error when the last frame had none', () => {
    const { before, after } = run((created() + said('hi')).slice(0, -1))

    expect(before + after).toContain('"sequence_number":4}\n\n\nevent: response.failed')
  })

  test('a broken stream gets no second error when the upstream sent one in an event that ends the response', () => {
    const failed = named('response.failed', response({ error: { code: 'server_error', message: 'x' } }))

    const { before, after } = run(`${created()}${failed}data: [DONE]\n\n`)

    expect(before + after).toBe(created() + failed)
  })

  test('a broken stream gets an error when the upstream sent one that clients do not notice', () => {
    const error = named('error', { message: 'x' })

    const { before, after } = run(created() + error)

    expect(before).toBe(created() + error)
    expect(after).toStartWith('event: response.failed')
  })

  test('a broken stream may be one that could not be charged', () => {
    const stream = open()
    stream.feed(encoder.encode(created() + completed()))

    const last = textOf(stream.finish(null, new GatewayError('unavailable', 'The books are closed.')))

    expect(last).not.toContain('response.completed')
    expect(dataOf(last).response).toMatchObject({ error: { code: 'unavailable' }, usage: null })
  })
})

test('frames after the end are sent after it, up to the limit', () => {
  const rest = 'data: bye\n\n'

  const { after } = run(completed() + rest + `data: ${'x'.repeat(70_000)}\n\n`)

  expect(after).toBe(completed() + rest)
})

test('an error at the start of a stream counts as first when response.failed follows', () => {
  const { reading } = run(
    named('error', { message: 'No.' }) + named('response.failed', response({ status: 'failed' })),
  )

  expect(reading.errorFirst).toBe(true)
})
