import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  answer,
  chatAnswer,
  closeBeforeHeaders,
  EVENT_STREAM,
  head,
  html,
  json,
  redirect,
  resetAfterHeaders,
  resetBeforeHeaders,
  silence,
  sse,
} from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { askForStream, settledStream, settlementOf, type Asking } from './settled-stream.ts'
import { DONE, ERROR, HEL, ROLE } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  const pricing = { input_per_mtok: '0', output_per_mtok: '0', per_request: '1000' }
  gateway = await startScriptedGateway({
    models: [chatModel('gpt-x'), chatModel('expensive', { pricing })],
  })
})
afterAll(() => gateway.stop())

/** Sends headers, and then nothing. */
function silenceAfterHeaders(): Reply {
  return async exchange => {
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.closed
  }
}

const error = { error: { message: 'No.', type: 'some_error', code: 'some_code' } }

const replies: Readonly<Record<string, [reply: Reply, status: number, code: string]>> = {
  'a reset before its headers': [resetBeforeHeaders(), 502, 'upstream_error'],
  'a close before its headers': [closeBeforeHeaders(), 502, 'upstream_error'],
  'a reset after its headers': [resetAfterHeaders(), 502, 'upstream_error'],
  'an empty stream': [sse([]), 502, 'upstream_error'],
  'half a frame': [sse([HEL.slice(0, 50)]), 502, 'upstream_error'],
  'a stream that is not an event stream': [
    answer('Hello.', { headers: EVENT_STREAM }),
    502,
    'upstream_error',
  ],
  'an HTML page': [html(), 502, 'upstream_error'],
  'a complete JSON answer': [chatAnswer(), 502, 'upstream_error'],
  'an error as its first frame': [sse([ERROR]), 502, 'upstream_error'],
  'an error as its first frame, and [DONE]': [sse([ERROR + DONE]), 502, 'upstream_error'],
  'an error as a named event': [sse(['event: error\ndata: {"message":"No."}\n\n']), 502, 'upstream_error'],
  'an error as a named event, in an envelope': [sse([`event: error\n${ERROR}`]), 502, 'upstream_error'],
  'a repeated error': [sse([ERROR + ERROR]), 502, 'upstream_error'],
  'a redirect': [redirect('http://127.0.0.1:1/'), 502, 'upstream_error'],
  'a 500': [json(error, { status: 500 }), 502, 'upstream_error'],
  'a 401': [json(error, { status: 401 }), 502, 'upstream_error'],
  'a 404': [json(error, { status: 404 }), 502, 'upstream_error'],
  'a 429': [json(error, { status: 429, headers: { 'retry-after': '7' } }), 429, 'rate_limited'],
  'a 400': [json(error, { status: 400 }), 400, 'some_code'],
}

describe.each(Object.entries(replies))('an upstream’s %s', (_, [reply, status, code]) => {
  test.each([false, true])(
    'a failure of the upstream is a free error status before the first byte, with include_usage %p',
    async includeUsage => {
      const stream = await settledStream(gateway, reply, { includeUsage })

      expect(stream).toMatchObject({ status, charge: null })
      expect(JSON.parse(stream.body)).toMatchObject({ error: { code } })
      expect(stream.headers.get('content-type')).toBe('application/json')
      expect(stream.headers.get('x-request-id')).toStartWith('req_')
    },
  )
})

test('an upstream’s Retry-After is forwarded with its 429', async () => {
  const [reply] = replies['a 429']!

  const { headers } = await settledStream(gateway, reply)

  expect(headers.get('retry-after')).toBe('7')
})

test.each([
  ['before its headers', silence(), 300_000],
  ['after its headers', silenceAfterHeaders(), 60_000],
])('an upstream’s silence %s is a free 504 and ends the call', async (_, reply, limitMs) => {
  const ada = await gateway.account()
  const upstream = gateway.upstream.hold()
  let response: Response | undefined
  void askForStream(gateway, ada).then(answered => (response = answered))
  const exchange = await upstream
  void reply(exchange)

  await until('the limit is over', () => {
    gateway.clock.advance(limitMs)
    return response !== undefined
  })

  expect(response?.status).toBe(504)
  expect(await response?.json()).toMatchObject({ error: { type: 'timeout_error', code: 'upstream_timeout' } })
  expect(await settlementOf(gateway, ada)).toBeNull()
  await exchange.closed
})

describe('the gateway refuses a stream with a status before the first byte', () => {
  const refusals: [title: string, status: number, code: string, body: NonNullable<Asking['body']>][] = [
    ['an unknown model', 404, 'model_not_found', { model: 'unknown' }],
    ['a worst case above the balance', 402, 'insufficient_balance', { model: 'expensive' }],
    ['stream options that are not an object', 400, 'invalid_field', { stream_options: 'usage' }],
    [
      'an include_usage that is not a boolean',
      400,
      'invalid_field',
      { stream_options: { include_usage: 1 } },
    ],
    ['a stream that is not a boolean', 400, 'invalid_field', { stream: 'yes' }],
  ]

  test.each(refusals)(
    'the gateway refuses a stream with a status before the first byte: %s',
    async (_, status, code, body) => {
      const ada = await gateway.account()
      const before = gateway.upstream.requests.length

      const response = await askForStream(gateway, ada, { body })

      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: { code } })
      expect(gateway.upstream.requests.length).toBe(before)
      expect(await settlementOf(gateway, ada)).toBeNull()
    },
  )

  test('the gateway refuses a stream with a status before the first byte: an unknown key', async () => {
    const response = await askForStream(gateway, { ...(await gateway.account()), key: 'tg_live_unknown' })

    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } })
  })
})

test('the upstream gets the stream request of the client unchanged', async () => {
  const ada = await gateway.account()
  gateway.upstream.reply(sse([ROLE + HEL + DONE]))

  await (await askForStream(gateway, ada)).text()

  expect(gateway.upstream.requests.at(-1)?.text()).toBe(
    '{"model":"gpt-x-upstream","messages":[{"role":"user","content":"Hi"}],"stream":true}',
  )
})
