import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { answer, chatAnswer, json } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedGateway, UPSTREAM_KEY, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway()
  ada = await gateway.account()
})
afterAll(() => gateway.stop())

const HELLO = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }

function ask(reply: Reply, headers?: Record<string, string>): Promise<Response> {
  gateway.upstream.reply(reply)
  return gateway.chat(ada.key, HELLO, headers)
}

const error = (status: number, body: object = { error: { message: 'No.' } }, headers = {}) =>
  json(body, { status, headers })

describe('an upstream’s rate limit stays a 429', () => {
  test.each(['7', 'Wed, 21 Oct 2026 07:28:00 GMT'])(
    'an upstream’s rate limit stays a 429 with its Retry-After of %s',
    async retryAfter => {
      const response = await ask(error(429, {}, { 'retry-after': retryAfter }))

      expect(response.headers.get('retry-after')).toBe(retryAfter)
      expect(response.headers.get('x-should-retry')).toBeNull()
      expect(await refusalOf(response)).toMatchObject({
        status: 429,
        type: 'rate_limit_error',
        code: 'rate_limited',
      })
    },
  )

  test('an upstream’s rate limit stays a 429 without a Retry-After if the upstream sent none', async () => {
    const response = await ask(error(429))

    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBeNull()
  })
})

describe('SDKs do not retry', () => {
  test.each([
    [401, 'false'],
    [402, 'false'],
    [403, 'false'],
    [404, 'false'],
    [500, null],
    [503, null],
    [302, null],
  ])('SDKs do not retry a 502 for the status %p, with x-should-retry %p', async (status, shouldRetry) => {
    const response = await ask(error(status))

    expect(response.headers.get('x-should-retry')).toBe(shouldRetry)
    expect(await refusalOf(response)).toMatchObject({ status: 502, type: 'upstream_error' })
  })

  test('SDKs do not retry a 504, because the upstream may still answer and bill', async () => {
    const taken = gateway.upstream.hold()
    const asked = gateway.chat(ada.key, HELLO)
    const exchange = await taken
    gateway.clock.advance(300_000)

    const response = await asked

    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(response)).toMatchObject({
      status: 504,
      type: 'timeout_error',
      code: 'upstream_timeout',
    })
    exchange.reset()
  })

  test('a late answer has not come after 299.999 seconds, so that SDKs do not retry', async () => {
    const taken = gateway.upstream.hold()
    const asked = gateway.chat(ada.key, HELLO)
    const exchange = await taken
    gateway.clock.advance(299_999)
    await chatAnswer()(exchange)

    expect((await asked).status).toBe(200)
  })
})

describe('a mistake that only the upstream detects is forwarded in the error envelope, from', () => {
  test.each<[string, Reply, object]>([
    [
      'the same envelope',
      error(400, { error: { message: 'Bad n.', type: 'invalid_request_error', param: 'n', code: 'bad_n' } }),
      { status: 400, message: 'Bad n.', type: 'invalid_request_error', param: 'n', code: 'bad_n' },
    ],
    [
      'a list of details',
      error(422, { detail: [{ loc: ['body', 'n'], msg: 'must be positive.' }] }),
      { status: 422, message: 'n: must be positive.', type: 'invalid_request_error' },
    ],
    [
      'plain text',
      answer('Too many images.', { status: 413, headers: { 'content-type': 'text/plain' } }),
      {
        status: 413,
        message: expect.stringMatching(
          /^The provider of the model refused this request of \d+ bytes as too large: Too many images\.$/,
        ) as string,
      },
    ],
    [
      'an HTML page',
      answer('<html>Bad Request</html>', { status: 400, headers: { 'content-type': 'text/html' } }),
      { status: 400, message: 'The provider of the model rejected the request without giving a reason.' },
    ],
    [
      'nothing',
      answer('', { status: 418 }),
      { status: 418, message: 'The provider of the model rejected the request without giving a reason.' },
    ],
  ])(
    'a mistake that only the upstream detects is forwarded in the error envelope, from %s',
    async (_, reply, expected) => {
      expect(await refusalOf(await ask(reply))).toMatchObject(expected)
    },
  )

  test('a mistake that only the upstream detects is forwarded in the error envelope, from a mistake that only the upstream detects is forwarded with the headers about when to retry', async () => {
    const response = await ask(
      error(409, undefined, { 'retry-after': '3', 'x-ratelimit-remaining-requests': '0', server: 'nginx' }),
    )

    expect(response.headers.get('retry-after')).toBe('3')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('server')).toBeNull()
  })
})

describe('no host, key or organisation of the upstream is shown by', () => {
  test.each([400, 401, 403, 404, 409, 422, 429, 500, 302])(
    'no host, key or organisation of the upstream is shown by status %p',
    async status => {
      const { host, port } = new URL(gateway.upstream.baseUrl)
      const message = `See ${gateway.upstream.baseUrl}/docs at ${host}, api.openai.com, 10.0.0.7; key ${UPSTREAM_KEY} of org-AbCd1234EfGh`
      const names = { type: `t ${host}`, code: `c ${UPSTREAM_KEY}`, param: host }

      const response = await ask(
        error(status, { error: { message, ...names } }, { location: gateway.upstream.baseUrl }),
      )

      // Its random characters can contain the digits of a port.
      const id = response.headers.get('x-request-id')!
      const shown = [await response.text(), ...response.headers.values()].join('\n').replaceAll(id, '')
      for (const secret of [port, '127.0.0.1', 'api.openai.com', '10.0.0.7', UPSTREAM_KEY, 'AbCd1234EfGh'])
        expect(shown).not.toContain(secret)
    },
  )

  test('no host, key or organisation of the upstream is shown by a failed response, which keeps the output of its model', async () => {
    const words = `The model wrote ${gateway.upstream.baseUrl}.`
    const output = [{ type: 'message', content: [{ type: 'output_text', text: words }] }]
    const message = `Failed at ${gateway.upstream.baseUrl} with ${UPSTREAM_KEY}.`
    gateway.upstream.reply(
      json({ object: 'response', status: 'failed', error: { code: 'server_error', message }, output }),
    )

    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify({ model: 'gpt-x', input: 'Hello' }),
    })

    expect(await response.json()).toMatchObject({
      error: { code: 'server_error', message: 'Failed at [link] with [redacted].' },
      output,
    })
  })
})

test('only allowed headers of an answer are forwarded to the client', async () => {
  const headers = {
    'x-ratelimit-remaining-tokens': '99',
    'retry-after': '1',
    'set-cookie': 'a=b',
    'openai-organization': 'acme',
    'x-request-id': 'theirs',
    'x-service-cost-usd': '99',
    'x-should-retry': 'true',
    server: 'nginx',
  }

  const response = await ask(chatAnswer({ headers }))

  expect(response.headers.get('x-request-id')).toStartWith('req_')
  expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
  const names = [...response.headers.keys()].filter(name => !['date', 'content-length'].includes(name))
  expect(new Set(names)).toEqual(
    new Set([
      'content-type',
      'x-ratelimit-remaining-tokens',
      'retry-after',
      'x-request-id',
      'x-service-cost-usd',
    ]),
  )
})

test('no headers of a request are forwarded to the upstream', async () => {
  await ask(chatAnswer(), {
    cookie: 'a=b',
    'x-api-key': ada.key,
    'x-forwarded-for': '1.2.3.4',
    'openai-beta': 'x',
  })

  const { headers, head } = gateway.upstream.requests.at(-1)!
  expect(headers['authorization']).toBe(`Bearer ${UPSTREAM_KEY}`)
  expect(new Set(Object.keys(headers))).toEqual(
    new Set([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]),
  )
  expect(head).not.toContain(ada.key)
})

test('the query string of a request is ignored and not forwarded', async () => {
  gateway.upstream.reply(chatAnswer())

  const response = await fetch(`${gateway.url}/v1/chat/completions?beta=true&api-version=1`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key },
    body: JSON.stringify(HELLO),
  })

  expect(response.status).toBe(200)
  expect(gateway.upstream.requests.at(-1)!.path).toBe('/v1/chat/completions')
})
