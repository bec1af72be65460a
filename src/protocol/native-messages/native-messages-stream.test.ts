import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { messagesEvent as event } from '../../../test/support/messages-events.ts'
import type { Bytes } from '../../domain/bytes.ts'
import { shortLivedPieces } from '../../http1/testing/short-lived-pieces.ts'
import { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { NativeMessagesStream } from './native-messages-stream.ts'

const LIMITS = { inputTokensMax: 1000, outputTokensMax: 100 }
const CHARGE = { cost: usd('0.5'), usage: NO_USAGE }
const FAILURE = new GatewayError('upstream_error', 'It broke.')
const encoder = new TextEncoder()

const start = (usage: object = { input_tokens: 10, output_tokens: 1 }) =>
  event('message_start', { message: { id: 'msg_1', model: 'up', content: [], usage } })
const text = (words: string, index = 0) =>
  event('content_block_delta', { index, delta: { type: 'text_delta', text: words } })
const END = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } })
const STOP = event('message_stop')
const PING = event('ping')

function open() {
  const fallback = { id: 'req_1', createdAtS: 1 }
  return new NativeMessagesStream({ model: 'row', limits: LIMITS, fallback })
}

/** The bytes for the client from a stream in these pieces, before its charge and at its end. */
function run(pieces: readonly (string | Bytes)[], failure: GatewayError | null = null) {
  const stream = open()
  const decoder = new TextDecoder()
  const give = shortLivedPieces()
  let sent = ''
  for (const piece of pieces) {
    const bytes = give(typeof piece === 'string' ? encoder.encode(piece) : piece)!
    sent += decoder.decode(stream.feed(bytes), { stream: true })
  }
  give(undefined)
  sent += decoder.decode(stream.end())
  const reading = stream.reading()
  const last = decoder.decode(stream.finish(failure === null ? CHARGE : null, failure))
  return { sent, last, reading }
}

const renamed = (frame: string) => frame.replace('"up"', '"row"')
const costed = (frame: string) => frame.replace('"output_tokens":5}', '"output_tokens":5,"cost_usd":"0.5"}')

test('all frames keep their bytes, in whatever pieces they come, except for the model and the cost', () => {
  const odd =
    'event: content_block_delta\r\ndata: {"type":"content_block_delta","x":1.0,"e":"\\u00e9é"}\r\n\r\n'
  const frames = [start(), PING, ': comment\n\n', odd, text('Hi'), END, PING, STOP]
  const bytes = encoder.encode(frames.join(''))
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), cuts => {
      const ends = [...new Set([...cuts, bytes.length])].toSorted((a, b) => a - b)
      const pieces = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end))

      const { sent, last } = run(pieces)

      expect(sent).toBe([renamed(start()), PING, ': comment\n\n', odd, text('Hi')].join(''))
      expect(last).toBe([costed(END), PING, STOP].join(''))
    }),
  )
})

test('only the last usage gets the cost', () => {
  const { sent, last } = run([start(), text('Hi'), END, END, STOP])

  expect(sent).toBe(renamed(start()) + text('Hi') + END)
  expect(last).toBe(costed(END) + STOP)
})

test('the upstream’s own cost is removed', () => {
  const own = { input_tokens: 1, output_tokens: 5, cost_usd: '9' }
  const end = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: own })

  const { sent, last } = run([start({ ...own }), end, STOP])

  expect(sent + last).not.toContain('"9"')
  expect(last).toContain('"usage":{"input_tokens":1,"output_tokens":5,"cost_usd":"0.5"}')
})

test('a stream that ended well without its last event gets one', () => {
  const { last, reading } = run([start(), text('Hi'), END])

  expect(reading.endedWell).toBe(true)
  expect(last).toBe(costed(END) + STOP)
})

test('frames before the first event wait for it, so that failover is possible', () => {
  const stream = open()

  const before = stream.feed(encoder.encode(`${PING}: hi\n\n`))
  const after = new TextDecoder().decode(stream.feed(encoder.encode(start())))

  expect(before).toHaveLength(0)
  expect(after).toBe(`${PING}: hi\n\n${renamed(start())}`)
})

describe('the reading', () => {
  test('the reading joins the counts at the start with those at the end', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 }
    const end = event('message_delta', {
      delta: { stop_reason: 'end_turn' },
      usage: { cache_read_input_tokens: null, output_tokens: 5, server_tool_use: { web_search_requests: 2 } },
    })

    expect(run([start(usage), end, STOP]).reading.usage).toEqual({
      ...NO_USAGE,
      input: 10,
      cachedInput: 100,
      output: 5,
      serverToolUses: 2,
    })
  })

  test('the reading of a stream that broke has the reported input and the produced texts', () => {
    const thinking = event('content_block_delta', {
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'Hm.' },
    })
    const use = event('content_block_start', { index: 2, content_block: { type: 'tool_use', name: 'look' } })
    const input = event('content_block_delta', {
      index: 2,
      delta: { type: 'input_json_delta', partial_json: '{"a":' },
    })

    const { reading } = run([start(), thinking, text('Hi', 1), use, input], FAILURE)

    expect(reading).toMatchObject({ endedWell: false, outputBegan: true, usage: null })
    expect(reading.inputUsage).toEqual({ ...NO_USAGE, input: 10 })
    expect(reading.texts()).toEqual(['Hm.', 'Hi', 'look{"a":'])
  })

  test('the reading of a stream without output has none', () => {
    expect(run([start()], FAILURE).reading).toMatchObject({ endedWell: false, outputBegan: false })
  })

  test('the reading counts hidden thinking as output', () => {
    const hidden = event('content_block_start', {
      index: 0,
      content_block: { type: 'redacted_thinking', data: 'x' },
    })

    expect(run([start(), hidden], FAILURE).reading.outputBegan).toBe(true)
  })

  test('the reading does not count the result of a server tool as output', () => {
    const content = [{ type: 'web_search_result', title: 'Sky' }]
    const result = event('content_block_start', {
      index: 0,
      content_block: { type: 'web_search_tool_result', content },
    })

    expect(run([start(), result], FAILURE).reading.outputBegan).toBe(false)
  })
})

describe('an error', () => {
  const ERROR = event('error', {
    error: { type: 'overloaded_error', message: 'Host https://a.example.com is busy' },
  })

  test('an error of the upstream passes without hosts, and no other follows', () => {
    const { sent, last, reading } = run([start(), ERROR], FAILURE)

    expect(sent).toBe(renamed(start()) + ERROR.replace('https://a.example.com', '[link]'))
    expect(last).toBe('')
    expect(reading).toMatchObject({ errorSeen: true, errorFirst: false, outputBegan: false })
  })

  test('an error that comes first is known as such', () => {
    expect(run([ERROR], FAILURE).reading.errorFirst).toBe(true)
  })

  test('an error of the gateway comes after an incomplete frame', () => {
    const { sent, last } = run([start(), text('Hi'), 'event: content_block_del'], FAILURE)

    expect(sent).toBe(renamed(start()) + text('Hi'))
    expect(last).toStartWith('event: error\ndata: {"type":"error","error":{"message":"It broke."')
  })
})
