import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { nextOf } from '../../support/next-of.ts'
import type { Provider } from '../../../src/domain/catalog/provider.ts'
import type {
  StreamEnd,
  StreamOutcome,
  UpstreamStream,
} from '../../../src/gateway/ports/providers/text-provider.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import * as replies from '../../support/upstream-replies.ts'
import {
  refusedUrl,
  startUpstream,
  type Exchange,
  type Reply,
  type Upstream,
} from '../../support/upstream.ts'
import { Timers } from '../../../src/http1/timers.ts'
import type { HttpClient } from '../../../src/http1/client/http-client.ts'
import { openAiCompatible } from '../../../src/providers/openai-compatible/openai-compatible.ts'
import { isPending, type OpenHttp, providerAt } from './open-http.ts'
import { turns } from '../../support/turn.ts'

/**
 * The rules for a call for a stream, with any client. Run by
 * src/providers/openai-compatible/openai-compatible.test.ts.
 */
export function streamConforms(open: OpenHttp): void {
  const FRAMES = ['data: {"a":1}\n\n', 'data: {"b":"é"}\n\n', 'data: [DONE]\n\n']

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

  describe('a stream', () => {
    test('a stream opens with its status, its allowed headers and its reported cost', async () => {
      upstream.reply(
        replies.chunked(FRAMES, {
          ...replies.EVENT_STREAM,
          'retry-after': '3',
          'x-ratelimit-reset': '1',
          'x-cost': '0.5',
          server: 'x',
        }),
      )

      const outcome = await stream({ provider: { costHeader: 'x-cost' } })

      expect(outcome).toMatchObject({
        outcome: 'opened',
        status: 200,
        retryAfter: { text: '3', delayMs: 3000 },
        rateLimits: [['x-ratelimit-reset', '1']],
        reportedCost: '0.5',
      })
      await drain(opened(outcome))
    })

    test.each<[string, Reply]>([
      ['in chunks', replies.sse(FRAMES)],
      ['split anywhere', replies.sse([...Buffer.from(FRAMES.join(''))].map(byte => new Uint8Array([byte])))],
      ['with a length', replies.answer(FRAMES.join(''), { headers: replies.EVENT_STREAM })],
      ['that ends with its connection', replies.closeDelimited(FRAMES.join(''), replies.EVENT_STREAM)],
      ['without a content type', replies.chunked(FRAMES, {})],
      [
        'in unrequested gzip',
        replies.answer(Bun.gzipSync(FRAMES.join('')), {
          headers: { ...replies.EVENT_STREAM, 'content-encoding': 'gzip' },
        }),
      ],
    ])('%s is handed on byte for byte, and then ends', async (_name, reply) => {
      upstream.reply(reply)

      const body = opened(await stream())

      expect(await drain(body)).toEqual({ text: FRAMES.join(''), end: { end: 'ended' } })
      expect(await nextOf(body)).toEqual({ end: 'ended' })
    })

    test('a stream hands on each piece as it comes', async () => {
      const { exchange, body } = await openHeld()

      await exchange.write(replies.chunk('one'))
      expect(textOf(await nextOf(body))).toBe('one')
      await exchange.write(replies.chunk('two'))
      expect(textOf(await nextOf(body))).toBe('two')
      await exchange.write('0\r\n\r\n')
      expect(await nextOf(body)).toEqual({ end: 'ended' })
    })

    test('a stream leaves its connection to the next call', async () => {
      upstream.reply(replies.sse(FRAMES))
      for (let count = 0; count < 3; count += 1) await drain(opened(await stream()))

      expect(upstream.connections).toBe(1)
    })
  })

  describe('an answer that is not a stream is read whole:', () => {
    test.each<[string, Reply, number, string]>([
      ['an error', replies.json({ error: { code: 'x' } }, { status: 429 }), 429, '{"error":{"code":"x"}}'],
      ['a JSON answer', replies.json({ id: 'x' }), 200, '{"id":"x"}'],
      ['an HTML page', replies.html(), 200, '<html><body>Welcome to nginx</body></html>'],
      ['a redirect', replies.redirect('http://127.0.0.1:1/'), 302, ''],
      ['an answer without a body', exchange => exchange.write('HTTP/1.1 204 No Content\r\n\r\n'), 204, ''],
      [
        'an error with the type of a stream',
        replies.answer('no', { status: 500, headers: replies.EVENT_STREAM }),
        500,
        'no',
      ],
    ])('an answer that is not a stream is read whole: %s', async (_name, reply, status, text) => {
      upstream.reply(reply)

      const outcome = await stream()

      expect(outcome).toMatchObject({ outcome: 'answered', status, body: text })
    })
  })

  describe('before the headers', () => {
    test.each<[string, Reply, string]>([
      ['a reset', replies.resetBeforeHeaders(), 'ECONNRESET'],
      ['a close', replies.closeBeforeHeaders(), 'ECONNRESET'],
      [
        'something that is not HTTP',
        exchange => exchange.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
        'Malformed_HTTP_Response',
      ],
      [
        'an unknown encoding',
        replies.answer('x', { headers: { ...replies.EVENT_STREAM, 'content-encoding': 'secret-sauce' } }),
        'the answer has an unknown content-encoding',
      ],
    ])('%s is unreachable', async (_name, reply, reason) => {
      upstream.reply(reply)

      expect(await stream()).toEqual({ outcome: 'unreachable', reason })
    })

    test('a refused connection is unreachable', async () => {
      const outcome = await stream({ provider: { baseUrl: refusedUrl() } })

      expect(outcome).toEqual({ outcome: 'unreachable', reason: 'ECONNREFUSED' })
    })

    test('silence ends at the read limit, and the request is aborted', async () => {
      const held = upstream.hold()
      const pending = stream()
      const exchange = await held

      clock.advance(300_000)

      expect(await pending).toEqual({ outcome: 'timed_out' })
      await exchange.closed
    })

    test('a caller that aborts aborts the request', async () => {
      const caller = new AbortController()
      const held = upstream.hold()
      const pending = stream({ signal: caller.signal })
      const exchange = await held

      caller.abort()

      expect(await pending).toEqual({ outcome: 'aborted' })
      await exchange.closed
    })
  })

  describe('a stream that breaks', () => {
    test('a stream that breaks by a reset delivers the bytes so far, and then fails', async () => {
      const { exchange, body } = await openHeld()
      await exchange.write(replies.chunk('one'))
      expect(textOf(await nextOf(body))).toBe('one')

      exchange.reset()

      expect(await nextOf(body)).toEqual({ end: 'broken', reason: 'ECONNRESET' })
      expect(await nextOf(body)).toEqual({ end: 'broken', reason: 'ECONNRESET' })
    })

    test.each<[string, Reply, string]>([
      ['before its last chunk', replies.cutChunked(FRAMES, replies.EVENT_STREAM), 'ECONNRESET'],
      ['short of its length', replies.shortBody(FRAMES.join(''), replies.EVENT_STREAM), 'ECONNRESET'],
      ['in a chunk without a length', replies.badChunk(replies.EVENT_STREAM), 'InvalidHTTPResponse'],
    ])('%s is broken, not ended', async (_name, reply, reason) => {
      upstream.reply(reply)

      const { end } = await drain(opened(await stream()))

      expect(end).toEqual({ end: 'broken', reason })
    })
  })

  describe('a stream that goes silent', () => {
    test('a stream that goes silent times out if nothing arrives within the limit, and the request is aborted', async () => {
      const { exchange, body } = await openHeld()
      const pending = nextOf(body)

      clock.advance(59_999)
      expect(await isPending(pending)).toBe(true)
      clock.advance(1)

      expect(await pending).toEqual({ end: 'idle' })
      expect(await nextOf(body)).toEqual({ end: 'idle' })
      await exchange.closed
    })

    test('a stream that goes silent has the whole limit again after each byte', async () => {
      const { exchange, body } = await openHeld()

      for (let count = 0; count < 5; count += 1) {
        const pending = nextOf(body)
        clock.advance(59_000)
        await exchange.write(replies.chunk('x'))
        expect(textOf(await pending)).toBe('x')
      }

      body.cancel()
    })

    test('a stream that goes silent is not idle while its reader is slow', async () => {
      const { exchange, body } = await openHeld()
      await exchange.write(replies.chunk('one'))
      await nextOf(body)

      clock.advance(3_600_000)
      await exchange.write(replies.chunk('two'))

      expect(textOf(await nextOf(body))).toBe('two')
      body.cancel()
    })

    test('a stream that goes silent after the headers of an answer that is not a stream ends at the same limit', async () => {
      const held = upstream.hold()
      const pending = stream()
      const exchange = await held
      await exchange.write(replies.head(500, { 'content-length': '10' }))
      expect(await isPending(pending)).toBe(true)

      // The limit begins when the headers have come, which a busy machine may delay. The limit before them is five
      // times as long.
      for (let limits = 0; limits < 4 && (await isPending(pending, 5_000)); limits += 1) clock.advance(60_000)

      expect(await pending).toEqual({ outcome: 'timed_out' })
      await exchange.closed
    })
  })

  describe('giving up a stream', () => {
    test('giving up a stream by cancelling aborts the request at once', async () => {
      const { exchange, body } = await openHeld()

      body.cancel()
      body.cancel()

      expect(await nextOf(body)).toEqual({ end: 'aborted' })
      await exchange.closed
    })

    test('giving up a stream by cancelling ends a pending read', async () => {
      const { exchange, body } = await openHeld()
      const pending = nextOf(body)

      body.cancel()

      expect(await pending).toEqual({ end: 'aborted' })
      await exchange.closed
    })

    test('giving up a stream by the signal of the caller aborts the request, and drops what was not read', async () => {
      const caller = new AbortController()
      const { exchange, body } = await openHeld({ signal: caller.signal })
      await exchange.write(replies.chunk('one'))

      caller.abort()

      await exchange.closed
      expect(await nextOf(body)).toEqual({ end: 'aborted' })
    })

    test('giving up a stream after its end changes nothing', async () => {
      upstream.reply(replies.sse(FRAMES))
      const body = opened(await stream())
      await drain(body)

      body.cancel()

      expect(await nextOf(body)).toEqual({ end: 'ended' })
      await drain(opened(await stream()))
      expect(upstream.connections).toBe(1)
    })
  })

  test('a reader that stops reading stops the upstream, and gets every byte once it continues', async () => {
    const { exchange, body } = await openHeld()
    const piece = replies.chunk(new Uint8Array(1024 * 1024))
    const pieces = 64
    let isWhole = false
    const writing = (async () => {
      for (let count = 0; count < pieces; count += 1) await exchange.write(piece)
      await exchange.write('0\r\n\r\n')
      isWhole = true
    })()
    const first = await nextOf(body)

    await settledWriting(exchange)
    const writtenWhileStalled = exchange.written
    const isWholeWhileStalled = isWhole
    let length = first instanceof Uint8Array ? first.length : 0
    for (;;) {
      const read = await nextOf(body)
      if (!(read instanceof Uint8Array)) break
      length += read.length
    }
    await writing

    expect(isWholeWhileStalled).toBe(false)
    expect(writtenWhileStalled).toBeLessThan(32 * 1024 * 1024)
    expect(length).toBe(pieces * 1024 * 1024)
  })

  type Call = { readonly provider?: Partial<Provider>; readonly signal?: AbortSignal }

  function stream({ provider, signal }: Call = {}): Promise<StreamOutcome> {
    const main = openAiCompatible({ timers, http, secretOf: () => 'sk-test' })
    const row = providerAt(upstream.baseUrl, provider)
    const body = '{"stream":true}'
    const limits = { readTimeoutMs: 300_000, idleTimeoutMs: 60_000 }
    return main.stream({ provider: row, route: 'chat', model: 'm', body, ...limits }, signal)
  }

  function opened(outcome: StreamOutcome): UpstreamStream {
    if (outcome.outcome !== 'opened') throw new Error(`not opened but ${outcome.outcome}`)
    return outcome.body
  }

  /** An open stream whose body the test writes. */
  async function openHeld(call?: Call): Promise<{ exchange: Exchange; body: UpstreamStream }> {
    const held = upstream.hold()
    const pending = stream(call)
    const exchange = await held
    await exchange.write(replies.head(200, { ...replies.EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    return { exchange, body: opened(await pending) }
  }

  async function drain(body: UpstreamStream) {
    const parts: Uint8Array[] = []
    for (;;) {
      const read = await nextOf(body)
      if (!(read instanceof Uint8Array)) return { text: Buffer.concat(parts).toString(), end: read }
      parts.push(read)
    }
  }

  function textOf(read: Uint8Array | StreamEnd): string {
    return read instanceof Uint8Array ? new TextDecoder().decode(read) : read.end
  }

  /** Waits until the upstream cannot write any more: its count has not changed for many turns of the loop. */
  async function settledWriting(exchange: Exchange): Promise<void> {
    for (let before = -1; before !== exchange.written;) {
      before = exchange.written
      await turns(200)
    }
  }
}
