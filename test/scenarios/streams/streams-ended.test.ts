import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunked, closeDelimited, EVENT_STREAM, sse } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { settledStream } from './settled-stream.ts'
import {
  COST_OF_HELLO,
  costed,
  delta,
  DONE,
  FINISH,
  finish,
  frame,
  HEL,
  LO,
  madeUsage,
  renamed,
  ROLE,
  TEN_IN_FIVE_OUT,
  usage,
} from '../../support/stream-frames.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  const resold = {
    pricing: 'upstream_cost',
    markup: '1.2',
    ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
  }
  gateway = await startScriptedGateway({ models: [chatModel('gpt-x'), chatModel('resold', resold)] })
})
afterAll(() => gateway.stop())

type Row = {
  readonly sent: string
  /** How the frames arrive, if not in one read. */
  readonly reply?: Reply
  readonly cost: string
  readonly source: 'reported' | 'estimated'
  readonly isClamped?: boolean
  /** The frames that the client gets with `include_usage`. Without it, the client gets `sent`. */
  readonly shown: string
}

const text = ROLE + HEL + LO
const whole = text + FINISH + usage() + DONE
const wholeShown = renamed(text + FINISH) + costed(usage(), '0.00007') + DONE

/** A complete stream with a usage frame, in another framing. */
function framed(reply: Reply, sent = whole): Row {
  return { sent, reply, cost: '0.00007', source: 'reported', shown: costed(sent, '0.00007') }
}

/** No count can take the charge beyond the limits of the model: 100,000 input and 1,000 output tokens. */
function clamped(counts: Readonly<Record<string, unknown>>, cost: string): Row {
  const sent = text + FINISH + usage(counts) + DONE
  return { sent, cost, source: 'reported', isClamped: true, shown: costed(sent, cost) }
}

const withoutUsage: Row = {
  sent: text + FINISH + DONE,
  cost: COST_OF_HELLO,
  source: 'estimated',
  shown: renamed(text + FINISH) + madeUsage(5, 1, COST_OF_HELLO) + DONE,
}

const rows: Readonly<Record<string, Row>> = {
  'with a usage frame, its exact price': {
    sent: whole,
    cost: '0.00007',
    source: 'reported',
    shown: wholeShown,
  },
  'with the usage on the chunk that finishes it': {
    sent: text + finish('stop', 0, { usage: TEN_IN_FIVE_OUT }) + DONE,
    cost: '0.00007',
    source: 'reported',
    shown: costed(text + finish('stop', 0, { usage: TEN_IN_FIVE_OUT }), '0.00007') + DONE,
  },
  'with the usage only on a chunk in the middle': {
    sent: ROLE + HEL + delta({ content: 'lo' }, 0, { usage: TEN_IN_FIVE_OUT }) + FINISH + DONE,
    cost: '0.00007',
    source: 'reported',
    shown:
      renamed(ROLE + HEL + delta({ content: 'lo' }, 0, { usage: TEN_IN_FIVE_OUT }) + FINISH) +
      madeUsage(10, 5, '0.00007') +
      DONE,
  },
  'with a cumulative usage, the last one once': {
    sent:
      delta({ content: 'Hel' }, 0, { usage: { prompt_tokens: 10, completion_tokens: 2 } }) +
      delta({ content: 'lo' }, 0, { usage: { prompt_tokens: 10, completion_tokens: 4 } }) +
      FINISH +
      usage() +
      DONE,
    cost: '0.00007',
    source: 'reported',
    shown: costed(
      delta({ content: 'Hel' }, 0, { usage: { prompt_tokens: 10, completion_tokens: 2 } }) +
        delta({ content: 'lo' }, 0, { usage: { prompt_tokens: 10, completion_tokens: 4 } }) +
        FINISH +
        usage() +
        DONE,
      '0.00007',
    ),
  },
  'with a null usage on every chunk except the last': {
    sent:
      delta({ content: 'Hello' }, 0, { usage: null }) + finish('stop', 0, { usage: null }) + usage() + DONE,
    cost: '0.00007',
    source: 'reported',
    shown: costed(
      delta({ content: 'Hello' }, 0, { usage: null }) + finish('stop', 0, { usage: null }) + usage() + DONE,
      '0.00007',
    ),
  },
  'with a usage of zero, nothing': {
    sent: text + FINISH + usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }) + DONE,
    cost: '0',
    source: 'reported',
    shown: costed(
      text + FINISH + usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }) + DONE,
      '0',
    ),
  },
  'with cached tokens inside the prompt, each token once': {
    sent: text + FINISH + usage({ ...TEN_IN_FIVE_OUT, cached_tokens: 4 }) + DONE,
    cost: '0.00007',
    source: 'reported',
    shown: costed(text + FINISH + usage({ ...TEN_IN_FIVE_OUT, cached_tokens: 4 }) + DONE, '0.00007'),
  },
  'with a negative usage': clamped({ prompt_tokens: -10, completion_tokens: 5 }, '0.00005'),
  'with a fractional usage': clamped({ prompt_tokens: 10, completion_tokens: 5.5 }, '0.00002'),
  'with string counts': clamped({ prompt_tokens: '10', completion_tokens: 5 }, '0.00005'),
  'with a usage above the model’s maximum': clamped(
    { prompt_tokens: 10, completion_tokens: 5_000_000 },
    '0.01002',
  ),
  'without a usage frame, an estimate': withoutUsage,
  'cut short by length, the output so far': {
    sent: text + finish('length') + DONE,
    cost: COST_OF_HELLO,
    source: 'estimated',
    shown: renamed(text + finish('length')) + madeUsage(5, 1, COST_OF_HELLO) + DONE,
  },
  'without [DONE], with a finish reason': {
    sent: text + FINISH + usage(),
    cost: '0.00007',
    source: 'reported',
    shown: costed(text + FINISH + usage(), '0.00007') + DONE,
  },
  'without [DONE] and usage frame, with a finish reason': {
    sent: text + FINISH,
    cost: COST_OF_HELLO,
    source: 'estimated',
    shown: renamed(text + FINISH) + madeUsage(5, 1, COST_OF_HELLO) + DONE,
  },
  'with [DONE], without a finish reason': {
    sent: text + DONE,
    cost: COST_OF_HELLO,
    source: 'estimated',
    shown: renamed(text) + madeUsage(5, 1, COST_OF_HELLO) + DONE,
  },
  'with an empty answer, its input': {
    sent: ROLE + FINISH + DONE,
    cost: '0.00001',
    source: 'estimated',
    shown: renamed(ROLE + FINISH) + madeUsage(5, 0, '0.00001') + DONE,
  },
  'with only [DONE], its input': {
    sent: DONE,
    cost: '0.00001',
    source: 'estimated',
    shown: madeUsage(5, 0, '0.00001').replace('"id":"chatcmpl-1","created":1,', '') + DONE,
  },
  'without a length': framed(closeDelimited(whole, EVENT_STREAM)),
  'with one read per frame': framed(sse([ROLE, HEL, LO, FINISH, usage(), DONE])),
  'with one read per few bytes': framed(sse(whole.match(/[^]{1,7}/g) ?? [])),
  'with CRLF line ends': framed(sse([whole.replaceAll('\n', '\r\n')]), whole.replaceAll('\n', '\r\n')),
  'with heartbeats and comments between its frames': framed(
    sse([
      `: hi\n\n${ROLE}`,
      ': ping\n',
      HEL,
      ': ping\n\n',
      LO + FINISH,
      ': ping\n\n',
      usage(),
      `: bye\n${DONE}`,
    ]),
    `: hi\n\n${ROLE}: ping\n${HEL}: ping\n\n${LO}${FINISH}: ping\n\n${usage()}: bye\n${DONE}`,
  ),
  'without a blank line at the end': framed(sse([whole.slice(0, -2)]), whole.slice(0, -2)),
  'without spaces after colons': framed(
    sse([whole.replaceAll('data: ', 'data:')]),
    whole.replaceAll('data: ', 'data:'),
  ),
  'without a content type': framed(chunked([whole], {})),
}

describe.each(Object.entries(rows))('a stream that ended well, %s', (_, row) => {
  const reply = row.reply ?? sse([row.sent])
  const charge = { cost_usd: row.cost, source: row.source, is_clamped: row.isClamped ?? false }

  test('a stream that ended well is forwarded byte for byte and charged', async () => {
    const stream = await settledStream(gateway, reply)

    expect(stream).toMatchObject({ status: 200, body: row.sent, charge })
  })

  test('a stream that ended well has its cost with include_usage', async () => {
    const stream = await settledStream(gateway, reply, { includeUsage: true })

    expect(stream).toMatchObject({ status: 200, body: row.shown, charge })
  })
})

test('a character that is split between two reads is forwarded and counted', async () => {
  const bytes = new TextEncoder().encode(delta({ content: '漢字😀' }) + FINISH + usage() + DONE)
  const cuts = [...bytes.keys()].filter(at => (bytes[at]! & 0xc0) === 0x80)
  const parts = [0, ...cuts].map((start, part) => bytes.subarray(start, cuts[part] ?? bytes.length))

  const stream = await settledStream(gateway, sse(parts), { includeUsage: true })

  expect(stream.body).toBe(costed(new TextDecoder().decode(bytes), '0.00007'))
  expect(stream.charge).toMatchObject({ cost_usd: '0.00007' })
})

test('an upstream’s own cost is replaced by the gateway’s, and removed from earlier chunks', async () => {
  const own = { ...TEN_IN_FIVE_OUT, cost_usd: '9' }
  const sent = delta({ content: 'Hello' }, 0, { usage: own }) + FINISH + usage(own) + DONE

  const { body } = await settledStream(gateway, sse([sent]), { includeUsage: true })

  expect(body.match(/"cost_usd":"[^"]*"/g)).toEqual(['"cost_usd":"0.00007"'])
})

test('a stream of a row that charges the upstream’s own cost does not name a cost', async () => {
  const sent = text + FINISH + usage({ ...TEN_IN_FIVE_OUT, cost: 0.0001 }) + DONE

  const stream = await settledStream(gateway, sse([sent]), { includeUsage: true, body: { model: 'resold' } })

  expect(stream.body).toContain('"usage":{')
  expect(stream.body).not.toContain('cost_usd')
  expect(stream.charge).toMatchObject({ cost_usd: '0.00012' })
})

test('two choices must both finish, and the usage covers both', async () => {
  const sent =
    delta({ content: 'Hel' }) + delta({ content: 'Hi' }, 1) + finish() + finish('stop', 1) + usage()

  const stream = await settledStream(gateway, sse([sent]), { body: { n: 2 } })

  expect(stream).toMatchObject({ status: 200, body: sent, charge: { cost_usd: '0.00007' } })
})

test('a frame with empty choices and no usage is accepted', async () => {
  const sent = frame({ choices: [] }) + text + FINISH + frame({ choices: [] }) + usage() + DONE

  const stream = await settledStream(gateway, sse([sent]), { includeUsage: true })

  expect(stream).toMatchObject({ body: costed(sent, '0.00007'), charge: { source: 'reported' } })
})

test('a stream has a request id and the upstream’s Retry-After, no cost header, and must not be cached or buffered', async () => {
  const reply = chunked([whole], { ...EVENT_STREAM, 'retry-after': '3' })
  const { headers } = await settledStream(gateway, reply, { includeUsage: true })

  expect(headers.get('x-service-cost-usd')).toBeNull()
  expect(headers.get('x-request-id')).toStartWith('req_')
  expect(headers.get('retry-after')).toBe('3')
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('x-accel-buffering')).toBe('no')
  expect(headers.get('content-encoding')).toBeNull()
})
