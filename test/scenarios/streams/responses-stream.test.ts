import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, closeDelimited, EVENT_STREAM, json, sse } from '../../support/upstream-replies.ts'
import type { Exchange, Reply } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import {
  askForStream,
  openedStream,
  restOf,
  settledStream,
  settlementOf,
  type Settlement,
} from './settled-stream.ts'
import { withoutHeartbeats } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

const IDLE_MS = 60_000
const RESPONSES = { route: { path: '/v1/responses', request: { input: 'Hi' } } }

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ environment: { TOLLGATE_REPLAY_TTL_S: '60' } })
})
afterAll(() => gateway.stop())

type Members = Readonly<Record<string, unknown>>

/** An event with an `event:` line, as most upstreams write it. */
function named(type: string, members: Members = {}): string {
  return `event: ${type}\n${bare(type, members)}`
}

/** An event with only a `data:` line. */
function bare(type: string, members: Members = {}): string {
  return `data: ${JSON.stringify({ type, ...members })}\n\n`
}

function response(members: Members): Members {
  return {
    response: { id: 'resp_1', object: 'response', created_at: 7, model: 'gpt-x-upstream', ...members },
  }
}

/** The cost of 10 input tokens at 2 USD and 5 output tokens at 10 USD per million. */
const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const CREATED = named('response.created', { sequence_number: 0, ...response({ usage: null }) })
const said = (delta: string, write = named) =>
  write('response.output_text.delta', { sequence_number: 4, output_index: 0, delta })
const HEL = said('Hel')
const COMPLETED = named('response.completed', response({ status: 'completed', usage: USAGE }))
const ERROR = named('error', { code: 'overloaded', message: 'We are out of GPUs.' })

const reported: Settlement = { cost_usd: '0.00007', source: 'reported', is_clamped: false }
/** "input" and "Hi" are two tokens, and the output is one. */
const estimated: Settlement = { cost_usd: '0.000014', source: 'estimated', is_clamped: false }

describe('events with names are forwarded unchanged and charged', () => {
  test.each<[string, string, Settlement]>([
    ['with the usage of the last one', CREATED + HEL + COMPLETED, reported],
    [
      'with an estimate if none has a usage',
      CREATED + HEL + named('response.completed', response({ status: 'completed' })),
      estimated,
    ],
    [
      'with a clamped usage',
      HEL + named('response.completed', response({ usage: { input_tokens: -1, output_tokens: 5 } })),
      { cost_usd: '0.00005', source: 'reported', is_clamped: true },
    ],
    [
      'with nothing for a usage of zero',
      HEL + named('response.completed', response({ usage: { input_tokens: 0, output_tokens: 0 } })),
      { ...reported, cost_usd: '0' },
    ],
    ['with any text after the last one', `${HEL + COMPLETED}data: [DONE]\n\n`, reported],
    ['if the answer is incomplete', HEL + ended('incomplete'), reported],
    ['if the response is cancelled', HEL + ended('cancelled'), reported],
    ['if the response failed', HEL + ended('failed'), reported],
  ])('events with names are forwarded unchanged and charged %s', async (_title, events, charge) => {
    const stream = await settledStream(gateway, sse([events]), RESPONSES)

    expect(stream).toMatchObject({ status: 200, body: events, charge })
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers.get('x-service-cost-usd')).toBeNull()
  })
})

test.each([
  ['text', USAGE],
  ['reasoning only', { ...USAGE, output_tokens_details: { reasoning_tokens: 5 } }],
])('a failed response whose usage alone shows output, %s, is charged that usage', async (_, usage) => {
  const { account, exchange, reader, first } = await openedStream(gateway, CREATED, RESPONSES)
  const failed = named('response.failed', response({ status: 'failed', usage }))

  await exchange.write(chunk(failed))
  const body = first + (await restOf(reader))

  expect(body).toBe(CREATED + failed)
  expect(await settlementOf(gateway, account)).toEqual(reported)
})

function ended(how: string, write = named): string {
  return write(`response.${how}`, response({ status: how, usage: USAGE }))
}

test('events without names get the catalog’s model name, and the last one the cost', async () => {
  const completed = bare('response.completed', response({ status: 'completed', usage: USAGE }))
  const created = bare('response.created', response({ usage: null }))

  const stream = await settledStream(gateway, sse([created + said('Hel', bare) + completed]), RESPONSES)

  const renamed = (event: string) => event.replace('gpt-x-upstream', 'gpt-x')
  const costed = renamed(completed).replace('"total_tokens":15', '"total_tokens":15,"cost_usd":"0.00007"')
  expect(stream.body).toBe(renamed(created) + said('Hel', bare) + costed)
  expect(stream.charge).toEqual(reported)
})

describe('a broken stream ends with response.failed', () => {
  const half = HEL + COMPLETED.slice(0, 60)
  const usageSoFar = named('response.in_progress', response({ usage: USAGE }))
  const rows: Readonly<Record<string, { reply: Reply; relayed: string; charge: Settlement | null }>> = {
    'after some output': { reply: sse([CREATED + HEL]), relayed: CREATED + HEL, charge: estimated },
    'within an event': { reply: sse([half]), relayed: HEL, charge: estimated },
    'without a length': {
      reply: closeDelimited(HEL, EVENT_STREAM),
      relayed: HEL,
      charge: estimated,
    },
    'after a usage': { reply: sse([HEL + usageSoFar]), relayed: HEL + usageSoFar, charge: reported },
    'with an error of the upstream': { reply: sse([HEL + ERROR]), relayed: HEL + ERROR, charge: estimated },
    'before any output': { reply: sse([CREATED]), relayed: CREATED, charge: null },
    'before any output, with an error': {
      reply: sse([CREATED + ERROR]),
      relayed: CREATED + ERROR,
      charge: null,
    },
  }

  test.each(Object.entries(rows))(
    'a broken stream ends with response.failed: %s',
    async (_title, { reply, relayed, charge }) => {
      const stream = await settledStream(gateway, reply, RESPONSES)

      expect(stream.body).toStartWith(relayed)
      const failed = failedIn(stream.body.slice(relayed.length))
      expect(failed).toMatchObject({
        status: 'failed',
        model: 'gpt-x',
        error: { code: 'upstream_error', type: 'upstream_error' },
      })
      expect(failed.usage?.cost_usd).toBe(charge?.cost_usd)
      expect(stream.charge).toEqual(charge)
    },
  )

  const breaks: Readonly<Record<string, [sent: string, breakIt: (exchange: Exchange) => void]>> = {
    'when its connection is cut': [HEL, exchange => exchange.end()],
    'when its connection is reset': [HEL, exchange => exchange.reset()],
    'when its connection is cut within an event': [half, exchange => exchange.end()],
  }

  test.each(Object.entries(breaks))(
    'a broken stream ends with response.failed: %s',
    async (_title, [sent, breakIt]) => {
      const { account, exchange, reader, first } = await openedStream(gateway, sent, RESPONSES)

      breakIt(exchange)
      const body = first + (await restOf(reader))

      expect(body).toStartWith(HEL)
      expect(failedIn(body.slice(HEL.length))).toMatchObject({ error: { code: 'upstream_error' } })
      expect(await settlementOf(gateway, account)).toEqual(estimated)
    },
  )

  test('a broken stream ends with response.failed with the id of its response and the next sequence number', async () => {
    const stream = await settledStream(gateway, sse([CREATED + HEL]), RESPONSES)

    const [, data] = /^event: response.failed\ndata: (.*)\n\n$/m.exec(stream.body.slice(CREATED.length)) ?? []
    expect(JSON.parse(data!)).toMatchObject({
      sequence_number: 5,
      response: { id: 'resp_1', created_at: 7 },
    })
  })

  test('a broken stream ends with response.failed when it goes silent, and the upstream call is aborted', async () => {
    const { account, exchange, reader, first } = await openedStream(gateway, HEL, RESPONSES)
    let rest: string | undefined
    void restOf(reader).then(text => (rest = text))

    await until('the silence is over', () => {
      gateway.clock.advance(IDLE_MS)
      return rest !== undefined
    })

    expect(first).toBe(HEL)
    expect(failedIn(withoutHeartbeats(rest!))).toMatchObject({
      error: { code: 'upstream_timeout', type: 'timeout_error' },
    })
    expect(await settlementOf(gateway, account)).toEqual(estimated)
    await exchange.closed
  })
})

type FailedResponse = { readonly usage: { readonly cost_usd: string } | null }

/** The response in the only event of a text. */
function failedIn(text: string): FailedResponse {
  const [, data] = /^\s*event: response\.failed\ndata: (.*)\n\n$/.exec(text) ?? []
  if (data === undefined) throw new Error(`Not a failed response: ${text}`)
  return (JSON.parse(data) as { response: FailedResponse }).response
}

describe('a client that disconnects ends the upstream call, and is charged', () => {
  test('a client that disconnects ends the upstream call, and is charged for the output until then', async () => {
    const { account, exchange, reader } = await openedStream(gateway, HEL, RESPONSES)

    await reader.cancel()

    await exchange.closed
    expect(await settlementOf(gateway, account)).toEqual(estimated)
  })

  test('a client that disconnects ends the upstream call, and is charged nothing if there was no output', async () => {
    const account = await gateway.account()
    const controller = new AbortController()
    const held = gateway.upstream.hold()
    const asked = askForStream(gateway, account, { ...RESPONSES, signal: controller.signal }).catch(
      () => 'left',
    )
    const exchange = await held

    controller.abort()

    expect(await asked).toBe('left')
    await exchange.closed
    expect(await settlementOf(gateway, account)).toBeNull()
  })
})

describe('before the first byte the reply is an error status without a charge, if the upstream', () => {
  test.each<[string, Reply, number, string]>([
    ['refuses', json({ error: { message: 'No.', code: 'no' } }, { status: 400 }), 400, 'no'],
    ['fails', json({}, { status: 500 }), 502, 'upstream_error'],
    ['sends nothing', sse([]), 502, 'upstream_error'],
    ['begins with an error', sse([ERROR]), 502, 'upstream_error'],
    ['answers with JSON', json({ object: 'response', output: [] }), 502, 'upstream_error'],
  ])(
    'before the first byte the reply is an error status without a charge, if the upstream %s',
    async (_title, reply, status, code) => {
      const account = await gateway.account()
      gateway.upstream.reply(reply)

      const refused = await askForStream(gateway, account, RESPONSES)

      expect(await refusalOf(refused)).toMatchObject({ status, code })
      expect(await settlementOf(gateway, account)).toBeNull()
    },
  )
})

test('an identical request gets the events of the first one without a charge', async () => {
  const account = await gateway.account()
  gateway.upstream.reply(sse([CREATED + HEL + COMPLETED]))
  const before = gateway.upstream.requests.length
  const first = await (await askForStream(gateway, account, RESPONSES)).text()

  const second = await askForStream(gateway, account, RESPONSES)

  expect(second.headers.get('x-service-replay')).toBe('true')
  expect(await second.text()).toBe(first)
  expect(await settlementOf(gateway, account)).toEqual(reported)
  expect(gateway.upstream.requests).toHaveLength(before + 1)
})

test('background requests are refused, because no route could fetch the result', async () => {
  const account = await gateway.account()
  const before = gateway.upstream.requests.length

  const refused = await askForStream(gateway, account, { ...RESPONSES, body: { background: true } })

  expect(await refusalOf(refused)).toMatchObject({ status: 400, param: 'background' })
  expect(gateway.upstream.requests).toHaveLength(before)
})
