import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Provider } from '../../../src/domain/catalog/provider.ts'
import { NOT_UTF8, type ProviderCall } from '../../../src/gateway/ports/providers/text-provider.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import * as replies from '../../support/upstream-replies.ts'
import { refusedUrl, startUpstream, type Reply, type Upstream } from '../../support/upstream.ts'
import { Timers } from '../../../src/http1/timers.ts'
import type { HttpClient } from '../../../src/http1/client/http-client.ts'
import { openAiCompatible } from '../../../src/providers/openai-compatible/openai-compatible.ts'
import { ANSWER_BYTES_MAX } from '../../../src/providers/http/read-answer.ts'
import { isPending, type OpenHttp, providerAt } from './open-http.ts'

/** A label of DNS has 63 characters at most. Another name gets another error from a machine without a network. */
const UNRESOLVED = `${'n'.repeat(64)}.invalid`

/**
 * The rules for a call for a whole answer, with any client. Run by
 * src/providers/openai-compatible/openai-compatible.test.ts.
 */
export function completeConforms(open: OpenHttp): void {
  let upstream: Upstream
  let clock: FakeClock
  let timers: Timers
  let http: HttpClient

  beforeEach(() => {
    upstream = startUpstream()
    clock = fakeClock()
    timers = new Timers(clock)
    http = open(timers)
  })

  afterEach(() => {
    http.close()
    upstream.close()
    // No call leaves a timer.
    expect(clock.waiting).toBe(0)
  })

  describe('the request', () => {
    test('the request is sent byte for byte, with headers from the provider row only', async () => {
      const body = '{"model":"m",  "x":1.0,"big":12345678901234567890}'

      await complete({ body, provider: { headers: { 'x-org': 'acme' } } })

      const [request] = upstream.requests
      expect(request?.text()).toBe(body)
      expect(request?.method).toBe('POST')
      expect(request?.path).toBe('/v1/chat/completions')
      expect(request?.headers).toEqual({
        host: new URL(upstream.baseUrl).host,
        connection: 'keep-alive',
        'content-length': String(body.length),
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'tollgate',
        authorization: 'Bearer sk-test',
        'x-org': 'acme',
      })
    })

    test.each([
      ['chat', '/v1/chat/completions'],
      ['responses', '/v1/responses'],
      ['embeddings', '/v1/embeddings'],
    ] as const)('the request of the %s route goes to %s', async (route, path) => {
      await complete({ route })

      expect(upstream.requests[0]?.path).toBe(path)
    })

    test('the request keeps the query of the base URL', async () => {
      await complete({ provider: { baseUrl: `${upstream.baseUrl}?api-version=2026-01` } })

      expect(upstream.requests[0]?.path).toBe('/v1/chat/completions?api-version=2026-01')
    })

    test('the request has no authorization header if the provider has no key', async () => {
      await complete({ provider: { secret: { from: 'none' } }, secretOf: () => undefined })

      expect(upstream.requests[0]?.headers['authorization']).toBeUndefined()
    })

    test('the request has the header of the provider instead of the default one', async () => {
      await complete({ provider: { headers: { authorization: 'Token abc', 'accept-encoding': 'gzip' } } })

      expect(upstream.requests[0]?.headers['authorization']).toBe('Token abc')
      expect(upstream.requests[0]?.headers['accept-encoding']).toBe('identity')
    })

    test('the request uses the connection of an earlier one', async () => {
      for (let count = 0; count < 5; count += 1) await complete()

      expect(upstream.requests).toHaveLength(5)
      expect(upstream.connections).toBe(1)
    })

    test('the request has a connection of its own if the provider does not reuse connections', async () => {
      for (let count = 0; count < 3; count += 1) await complete({ provider: { reusesConnections: false } })

      expect(upstream.connections).toBe(3)
    })

    test('the request is sent once, even if a reused connection breaks', async () => {
      upstream.reply(replies.chatAnswer(), replies.resetBeforeHeaders())
      await complete()

      const outcome = await complete()

      expect(outcome).toEqual({ outcome: 'unreachable', reason: 'ECONNRESET' })
      expect(upstream.requests.map(request => request.connection)).toEqual([1, 1])
    })
  })

  describe('the answer', () => {
    test('the answer is handed on byte for byte, with its allowed headers and its reported cost', async () => {
      const body = '{"id":"x",  "n":1.0,"usage":{"prompt_tokens":1e2}}'
      upstream.reply(
        replies.answer(body, {
          status: 201,
          headers: {
            'Content-Type': 'application/json; charset=utf-8',
            'X-RateLimit-Limit-Tokens': '10',
            'X-RateLimit-Remaining-Tokens': '9',
            'Retry-After': '3',
            'X-RateLimit-Reset-Tokens': '6s',
            'x-cost': '0.25',
            'set-cookie': 'a=b',
            server: 'nginx',
            'openai-organization': 'org-secret',
          },
        }),
      )

      const outcome = await complete({ provider: { costHeader: 'x-cost' } })

      expect(outcome).toEqual({
        outcome: 'answered',
        status: 201,
        contentType: 'application/json; charset=utf-8',
        retryAfter: { text: '3', delayMs: 3000 },
        rateLimits: [
          ['x-ratelimit-limit-tokens', '10'],
          ['x-ratelimit-remaining-tokens', '9'],
          ['x-ratelimit-reset-tokens', '6s'],
        ],
        reportedCost: '0.25',
        body,
      })
    })

    test.each<[string, Reply, number, string]>([
      ['in chunks', replies.chunked(['{"a":', '1', '}']), 200, '{"a":1}'],
      ['that ends with its connection', replies.closeDelimited('{"a":1}'), 200, '{"a":1}'],
      ['of a 500', replies.answer('oh no', { status: 500 }), 500, 'oh no'],
      ['of a 429', replies.json({ error: {} }, { status: 429 }), 429, '{"error":{}}'],
      ['that is HTML', replies.html(), 200, '<html><body>Welcome to nginx</body></html>'],
      ['of a redirect', replies.redirect('http://127.0.0.1:1/'), 302, ''],
      ['without a body', exchange => exchange.write('HTTP/1.1 204 No Content\r\n\r\n'), 204, ''],
    ])('%s is handed on as it is', async (_name, reply, status, text) => {
      upstream.reply(reply)

      const outcome = await complete()

      expect(answered(outcome)).toEqual({ status, text })
      expect(upstream.requests).toHaveLength(1)
    })

    test('the answer in unrequested gzip is decompressed, and keeps its media type', async () => {
      upstream.reply(replies.gzip({ a: 1 }))

      const outcome = await complete()

      expect(answered(outcome)).toEqual({ status: 200, text: '{"a":1}' })
      expect(outcome).toMatchObject({ contentType: 'application/json' })
    })

    test('the answer that is not UTF-8 is marked as such', async () => {
      upstream.reply(exchange =>
        exchange.write(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"\xff"', 'latin1')),
      )

      expect(await complete()).toMatchObject({ outcome: 'answered', body: NOT_UTF8 })
    })

    test.each(['"\uFFFD"', '"é😀"', '\uFEFF{}'])('the answer of %j is handed on as it is', async body => {
      upstream.reply(replies.answer(body))

      expect(await complete()).toMatchObject({ outcome: 'answered', body })
    })

    test('the answer of exactly the largest size is read whole', async () => {
      const large = new Uint8Array(ANSWER_BYTES_MAX)
      upstream.reply(replies.answer(large))

      const outcome = await complete()

      expect(outcome.outcome === 'answered' && outcome.body.length).toBe(ANSWER_BYTES_MAX)
    })
  })

  describe('the outcome is unreachable, with a reason that names neither host nor key, for', () => {
    const endless: Reply = async exchange => {
      await exchange.write(
        replies.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
      )
      const part = replies.chunk(new Uint8Array(4 * 1024 * 1024))
      for (let count = 0; count < 100; count += 1) await exchange.write(part)
    }

    test.each<[string, Reply, string]>([
      ['a reset before the headers', replies.resetBeforeHeaders(), 'ECONNRESET'],
      ['a close before the headers', replies.closeBeforeHeaders(), 'ECONNRESET'],
      ['a reset after the headers', replies.resetAfterHeaders(), 'ECONNRESET'],
      ['a body shorter than declared', replies.shortBody('{"id":1}'), 'ECONNRESET'],
      ['a chunked body that breaks off', replies.cutChunked(['{"id":', '1}']), 'ECONNRESET'],
      ['a chunk without a length', replies.badChunk(), 'InvalidHTTPResponse'],
      [
        'something that is not HTTP',
        exchange => exchange.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
        'Malformed_HTTP_Response',
      ],
      [
        'an answer in an unknown encoding',
        replies.answer('x', { headers: { 'content-encoding': 'secret-sauce' } }),
        'the answer has an unknown content-encoding',
      ],
      [
        'a declared length over the limit',
        exchange => exchange.write(replies.head(200, { 'content-length': String(ANSWER_BYTES_MAX + 1) })),
        'the answer is larger than 64 MB',
      ],
      ['a body over the limit', endless, 'the answer is larger than 64 MB'],
    ])(
      'the outcome is unreachable, with a reason that names neither host nor key, for %s',
      async (_name, reply, reason) => {
        upstream.reply(reply)

        const outcome = await complete()

        expect(outcome).toEqual({ outcome: 'unreachable', reason })
        expect(upstream.requests).toHaveLength(1)
      },
    )

    test.each<[string, Partial<Provider>, string]>([
      ['a refused connection', { baseUrl: refusedUrl() }, 'ECONNREFUSED'],
      ['a name that does not resolve', { baseUrl: `http://${UNRESOLVED}/v1` }, 'ENOTFOUND'],
    ])(
      'the outcome is unreachable, with a reason that names neither host nor key, for %s',
      async (_name, provider, reason) => {
        const outcome = await complete({ provider, secretOf: () => undefined })

        expect(outcome).toEqual({ outcome: 'unreachable', reason })
        expect(upstream.requests).toHaveLength(0)
      },
    )
  })

  describe('nothing is sent, and the outcome says that the provider is not configured, for', () => {
    test.each<[string, Partial<Provider>, string]>([
      [
        'a base URL of another scheme',
        { baseUrl: 'file:///etc' },
        'the base URL is not an http or https URL',
      ],
      ['no base URL', { baseUrl: '' }, 'the base URL is not an http or https URL'],
      [
        'a header that cannot be sent',
        { headers: { 'x-a': 'b\r\nc: d' } },
        'its key or one of its headers cannot be sent in a header',
      ],
      [
        'a variable that is not set',
        { secret: { from: 'environment', variable: 'MAIN_KEY' } },
        'the environment variable MAIN_KEY is not set',
      ],
    ])(
      'nothing is sent, and the outcome says that the provider is not configured, for %s',
      async (_name, provider, reason) => {
        const outcome = await complete({ provider, secretOf: () => undefined })

        expect(outcome).toEqual({ outcome: 'not_configured', reason })
        expect(upstream.requests).toHaveLength(0)
      },
    )

    test('a key that cannot be sent', async () => {
      const outcome = await complete({ secretOf: () => 'sk-one\nsk-two' })

      expect(outcome).toEqual({
        outcome: 'not_configured',
        reason: 'its key or one of its headers cannot be sent in a header',
      })
    })

    test('a server that does not speak TLS', async () => {
      const outcome = await complete({ provider: { baseUrl: upstream.baseUrl.replace('http:', 'https:') } })

      expect(outcome.outcome).toBe('unreachable')
      expect(upstream.requests).toHaveLength(0)
    })
  })

  describe('time', () => {
    test('a call times out if nothing arrives within the read limit, and the request is aborted', async () => {
      const held = upstream.hold()
      const pending = complete({ readTimeoutMs: 300_000 })
      const exchange = await held

      clock.advance(299_999)
      expect(await isPending(pending)).toBe(true)
      clock.advance(1)

      expect(await pending).toEqual({ outcome: 'timed_out' })
      await exchange.closed
    })

    test('time is limited for the whole answer, even if its bytes keep coming', async () => {
      const held = upstream.hold()
      const pending = complete({ readTimeoutMs: 1_000 })
      const exchange = await held

      await exchange.write(replies.head(200, { 'content-length': '100' }))
      clock.advance(600)
      await exchange.write('{"a":')
      expect(await isPending(pending)).toBe(true)
      clock.advance(400)

      expect(await pending).toEqual({ outcome: 'timed_out' })
      await exchange.closed
    })
  })

  describe('a call with a late limit', () => {
    async function late() {
      const held = upstream.hold()
      const caller = new AbortController()
      const pending = complete({ readTimeoutMs: 1_000, lateMs: 5_000, signal: caller.signal })
      const exchange = await held
      clock.advance(1_000)
      const outcome = await pending
      if (outcome.outcome !== 'timed_out' || outcome.late === undefined) throw new Error('It is not late.')
      return { late: outcome.late, exchange, caller }
    }

    test('a call with a late limit has timed out after the read limit, and gives its answer later', async () => {
      const { late: call, exchange } = await late()

      await replies.answer('{"late":true}')(exchange)

      expect(answered(await call.outcome)).toEqual({ status: 200, text: '{"late":true}' })
      http.close()
      expect(clock.waiting).toBe(0)
    })

    test('a call with a late limit continues although its caller aborts', async () => {
      const { late: call, exchange, caller } = await late()

      caller.abort()
      await replies.answer('{}')(exchange)

      expect(answered(await call.outcome)).toEqual({ status: 200, text: '{}' })
    })

    test('a call with a late limit is aborted after the late limit', async () => {
      const { late: call, exchange } = await late()

      clock.advance(4_999)
      expect(await isPending(call.outcome)).toBe(true)
      clock.advance(1)

      expect(await call.outcome).toEqual({ outcome: 'timed_out' })
      await exchange.closed
      expect(clock.waiting).toBe(0)
    })

    test('a call with a late limit is aborted when it is abandoned', async () => {
      const { late: call, exchange } = await late()

      call.abandon()
      call.abandon()

      expect(await call.outcome).toEqual({ outcome: 'aborted' })
      await exchange.closed
      expect(clock.waiting).toBe(0)
    })

    test('a call with a late limit is like any other call if it ends in time', async () => {
      upstream.reply(replies.answer('{}'))

      const outcome = await complete({ lateMs: 5_000 })

      expect(answered(outcome)).toEqual({ status: 200, text: '{}' })
      http.close()
      expect(clock.waiting).toBe(0)
    })

    test('a call with a late limit is aborted by its caller before the read limit', async () => {
      const held = upstream.hold()
      const caller = new AbortController()
      const pending = complete({ lateMs: 5_000, signal: caller.signal })
      const exchange = await held

      caller.abort()

      expect(await pending).toEqual({ outcome: 'aborted' })
      await exchange.closed
    })
  })

  describe('aborting', () => {
    test('aborting before the call sends nothing', async () => {
      const outcome = await complete({ signal: AbortSignal.abort() })

      expect(outcome).toEqual({ outcome: 'aborted' })
      expect(upstream.requests).toHaveLength(0)
    })

    test.each([
      ['before the headers', ''],
      ['in the middle of the body', `${replies.head(200, { 'content-length': '100' })}{"a":`],
      [
        'in the middle of a chunked body',
        `${replies.head(200, { 'transfer-encoding': 'chunked' })}5\r\n{"a":\r\n`,
      ],
    ])('%s aborts the request', async (_name, sofar) => {
      const held = upstream.hold()
      const caller = new AbortController()
      const pending = complete({ signal: caller.signal })
      const exchange = await held
      await exchange.write(sofar)
      expect(await isPending(pending)).toBe(true)

      caller.abort()

      expect(await pending).toEqual({ outcome: 'aborted' })
      await exchange.closed
    })
  })

  type Call = {
    readonly provider?: Partial<Provider>
    readonly route?: ProviderCall['route']
    readonly body?: string
    readonly readTimeoutMs?: number
    readonly lateMs?: number
    readonly secretOf?: () => string | undefined
    readonly signal?: AbortSignal
  }

  function complete({ provider, route = 'chat', body = '{}', readTimeoutMs = 60_000, ...rest }: Call = {}) {
    const main = openAiCompatible({ timers, http, secretOf: rest.secretOf ?? (() => 'sk-test') })
    const row = providerAt(upstream.baseUrl, provider)
    const late = rest.lateMs === undefined ? {} : { lateMs: rest.lateMs }
    return main.complete({ provider: row, route, model: 'm', body, readTimeoutMs, ...late }, rest.signal)
  }

  function answered(outcome: Awaited<ReturnType<typeof complete>>) {
    if (outcome.outcome !== 'answered') return outcome
    return { status: outcome.status, text: outcome.body }
  }
}
