import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldEvents } from '../../../test/support/messages-events.ts'
import { DONE, delta, finish, frame, ROLE, usage } from '../../../test/support/stream-frames.ts'
import { shortLivedPieces } from '../../http1/testing/short-lived-pieces.ts'
import { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { messageOf } from '../messages/message.ts'
import { LiveMessagesStream } from './live-messages-stream.ts'

const LIMITS = { inputTokensMax: 1000, outputTokensMax: 100 }
const CHARGE = { cost: usd('0.5'), usage: { ...NO_USAGE, input: 7, cachedInput: 3, output: 5 } }
const encoder = new TextEncoder()

function open(inputTokensEstimate = 12) {
  const fallback = { id: 'req_1', createdAtS: 1 }
  return new LiveMessagesStream({ model: 'row', limits: LIMITS, fallback }, { inputTokensEstimate })
}

/** The bytes for the client from a stream in these pieces. */
function run(pieces: readonly string[], failure: GatewayError | null = null): string {
  const stream = open()
  const decoder = new TextDecoder()
  const give = shortLivedPieces()
  let text = ''
  for (const piece of pieces) text += decoder.decode(stream.feed(give(encoder.encode(piece))!))
  give(undefined)
  text += decoder.decode(stream.end())
  return text + decoder.decode(stream.finish(failure === null ? CHARGE : null, failure))
}

const call = (index: number, members: object) => delta({ tool_calls: [{ index, ...members }] })
const named = (name: string, args = '') => ({ id: `id_${name}`, function: { name, arguments: args } })
const more = (args: string) => ({ function: { arguments: args } })
const END = [finish(), usage(), DONE]

test('text arrives with its chunks, and the end has the counts and the cost', () => {
  const stream = open()
  const typesOf = (bytes: Uint8Array) =>
    Array.from(new TextDecoder().decode(bytes).matchAll(/event: (\w+)/g), ([, type]) => type)
  const pieces = [ROLE, delta({ content: 'Hel' }), delta({ content: 'lo' }), ...END]
  const fed = pieces.map(piece => typesOf(stream.feed(encoder.encode(piece))))
  const last = new TextDecoder().decode(stream.finish(CHARGE, null))

  expect(fed).toEqual([
    ['message_start'],
    ['content_block_start', 'content_block_delta'],
    ['content_block_delta'],
    [],
    [],
    [],
  ])
  expect(last).toBe(
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' +
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},' +
      '"usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":5,"cost_usd":"0.5"}}\n\n' +
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  )
})

test('the start has the id of the upstream, the name of the row and an estimate of the input', () => {
  expect(foldEvents(run([ROLE, ...END]))).toMatchObject({ id: 'chatcmpl-1', model: 'row' })
  expect(run([ROLE, ...END])).toContain('"usage":{"input_tokens":12,"output_tokens":0}')
})

test('an input of unknown length starts with at most the context window', () => {
  const stream = open(Infinity)

  expect(new TextDecoder().decode(stream.feed(encoder.encode(ROLE)))).toContain('"input_tokens":1000,')
})

test('an opening chunk without choices and with an empty id starts nothing', () => {
  const opening = frame({ id: '', choices: [], prompt_filter_results: [] })

  expect(foldEvents(run([opening, ROLE, ...END]))).toMatchObject({ id: 'chatcmpl-1' })
})

describe('calls', () => {
  test.each([
    [
      'one after the other',
      [call(0, named('a', '{"x":')), call(0, more('1}')), call(1, named('b', '{"y":2}'))],
    ],
    [
      'mixed',
      [call(0, named('a', '{"x"')), call(1, named('b', '{"y"')), call(0, more(':1}')), call(1, more(':2}'))],
    ],
    ['all with the same index', [call(0, named('a', '{"x":1}')), call(0, named('b', '{"y":2}'))]],
    [
      'with the id in every chunk',
      [call(0, named('a', '{"x":')), call(0, { ...more('1}'), id: 'id_a' }), call(1, named('b', '{"y":2}'))],
    ],
  ])('%s become blocks in their order', (_, chunks) => {
    expect(foldEvents(run([ROLE, ...chunks, ...END]))).toMatchObject({
      content: [
        { type: 'tool_use', id: 'id_a', name: 'a', input: { x: 1 } },
        { type: 'tool_use', id: 'id_b', name: 'b', input: { y: 2 } },
      ],
      stopReason: 'end_turn',
      isComplete: true,
    })
  })

  test('calls arrive with their chunks', () => {
    const stream = open()
    stream.feed(encoder.encode(ROLE + call(0, named('a', '{"x":'))))

    const fed = new TextDecoder().decode(stream.feed(encoder.encode(call(0, more('"12345')))))

    expect(fed).toContain(String.raw`"partial_json":"\"12345"`)
  })

  test.each([
    ['without arguments', [call(0, named('a'))], {}],
    ['with null as arguments', [call(0, named('a', 'null'))], {}],
    [
      'with an object as arguments',
      [call(0, { id: 'i', function: { name: 'a', arguments: { x: 1 } } })],
      { x: 1 },
    ],
    ['with arguments that are not an object', [call(0, named('a', '[1]'))], { raw_arguments: '[1]' }],
    ['with arguments that the ceiling cut', [call(0, named('a', '{"x":'))], '{"x":'],
  ])('%s get an input', (_, chunks, input) => {
    expect(foldEvents(run([ROLE, ...chunks, ...END])).content).toMatchObject([{ name: 'a', input }])
  })

  test('calls without an id get one, and without a name are dropped', () => {
    const chunks = [call(0, { function: { name: 'a', arguments: '{}' } }), call(1, more('{}'))]

    expect(foldEvents(run([ROLE, ...chunks, ...END])).content).toEqual([
      { type: 'tool_use', id: 'call_chatcmpl-1_0', name: 'a', input: {} },
    ])
  })

  test('calls in the older format become blocks', () => {
    const chunks = [
      delta({ function_call: { name: 'a' } }),
      delta({ function_call: { arguments: '{"x":1}' } }),
    ]

    expect(foldEvents(run([ROLE, ...chunks, ...END])).content).toMatchObject([{ name: 'a', input: { x: 1 } }])
  })

  test('calls stop with tool_use, and other finish reasons become the reasons of messages', () => {
    const stopOf = (reason: string) => foldEvents(run([ROLE, finish(reason), DONE])).stopReason

    expect(['stop', 'length', 'tool_calls', 'content_filter'].map(stopOf)).toEqual([
      'end_turn',
      'max_tokens',
      'tool_use',
      'stop_sequence',
    ])
  })
})

test('any answer in any chunks has the blocks of the answer that is converted as a whole', () => {
  const text = fc.record({ content: fc.string({ unit: 'grapheme', minLength: 1 }) })
  const args = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.stringify(value))
  const pieces = (json: string) =>
    fc.array(fc.nat(json.length)).map(cuts => {
      const ends = [...new Set([...cuts, json.length])].toSorted((a, b) => a - b)
      return ends.map((end, index) => json.slice(ends[index - 1] ?? 0, end))
    })
  const calls = fc.array(args.chain(pieces), { maxLength: 3 })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), calls, (texts, argPieces) => {
      const chunks = argPieces.flatMap((parts, index) =>
        parts.map((part, at) => call(index, at === 0 ? named(`n${index}`, part) : more(part))),
      )
      const completion = {
        id: 'chatcmpl-1',
        choices: [
          {
            message: {
              content: texts.map(({ content }) => content).join(''),
              tool_calls: argPieces.map((parts, index) => named(`n${index}`, parts.join(''))),
            },
          },
        ],
      }

      const { content } = foldEvents(run([ROLE, ...texts.map(part => delta(part)), ...chunks, ...END]))

      const { blocks } = messageOf(completion, () => '')
      expect(content).toEqual(
        blocks.map(block =>
          block.type === 'text'
            ? block
            : { type: 'tool_use', id: block.id, name: block.name, input: JSON.parse(block.inputJson) },
        ),
      )
    }),
  )
})

describe('a failure', () => {
  test('a failure of the gateway ends the stream with an error event', () => {
    const failure = new GatewayError('upstream_error', 'It broke.')

    const { error, isComplete } = foldEvents(run([ROLE, delta({ content: 'a' })], failure))

    expect(error).toMatchObject({ type: 'upstream_error', message: 'It broke.' })
    expect(isComplete).toBe(false)
  })

  test('a failure that the upstream reports ends the stream with that error, without hosts, and only once', () => {
    const reported = 'data: {"error":{"message":"No GPU at https://gpu.example.com","type":"overloaded"}}\n\n'

    const text = run([ROLE, reported], new GatewayError('upstream_error', 'It broke.'))

    expect(text.match(/event: error/g)).toHaveLength(1)
    expect(foldEvents(text).error).toMatchObject({ type: 'overloaded', message: 'No GPU at [link]' })
  })
})
