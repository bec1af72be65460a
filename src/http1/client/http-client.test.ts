import { getEventListeners } from 'node:events'
import { nextOf, pieceOf } from '../../../test/support/next-of.ts'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import * as replies from '../../../test/support/upstream-replies.ts'
import { startUpstream, type Exchange, type Reply, type Upstream } from '../../../test/support/upstream.ts'
import { Deadlines } from '../../providers/deadlines.ts'
import { openAiCompatible } from '../../providers/openai-compatible/openai-compatible.ts'
import { httpClient, type HttpClient, type HttpExchange } from './http-client.ts'
import { httpRequest } from './http-request.ts'

let upstream: Upstream
let http: HttpClient
let clock: FakeClock
let deadlines: Deadlines

beforeEach(() => {
  upstream = startUpstream()
  clock = fakeClock()
  deadlines = new Deadlines(clock)
  http = httpClient(deadlines)
})

afterEach(() => {
  http.close()
  upstream.close()
})

test('calls at once have a connection each, and the calls after them use those', async () => {
  await Promise.all([ask(), ask(), ask()])
  await Promise.all([ask(), ask(), ask()])

  expect(upstream.connections).toBe(3)
})

test.each<[string, Reply]>([
  ['asks to be closed', replies.answer('{}', { headers: { connection: 'close' } })],
  ['speaks HTTP/1.0', exchange => exchange.write('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}')],
  [
    'sent more than its answer',
    exchange => exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP'),
  ],
])('a connection whose server %s is not used again', async (_name, reply) => {
  upstream.reply(reply)

  expect([await ask(), await ask()]).toEqual(['{}', '{}'])

  expect(upstream.connections).toBe(2)
})

test('a connection on which something came unasked is closed', async () => {
  const exchange = await heldAnswer()

  await exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong')
  await exchange.closed

  expect(await ask()).toContain('Hello.')
  expect(upstream.connections).toBe(2)
})

test('a connection that its server closes while it waits is not used again', async () => {
  const exchange = await heldAnswer()

  exchange.end()
  await exchange.closed
  // In which the client hears of it.
  await turns(20)

  expect(await ask()).toContain('Hello.')
  expect(upstream.connections).toBe(2)
})

test('a connection that has waited for 30 seconds is closed', async () => {
  const first = await heldAnswer()
  clock.advance(29_999)
  const second = upstream.hold()
  const asked = ask()
  const reused = await second
  await reused.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  await asked
  expect(upstream.connections).toBe(1)

  clock.advance(30_000)
  await first.closed

  await ask()
  expect(upstream.connections).toBe(2)
})

test('of 300 connections 256 wait for the calls to come, and the others are closed', async () => {
  const held = Array.from({ length: 300 }, () => upstream.hold())
  const asked = held.map(() => ask())
  const exchanges = await Promise.all(held)
  let closed = 0
  for (const exchange of exchanges) void exchange.closed.then(() => (closed += 1))
  const enough = Promise.all(exchanges.slice(256).map(({ closed }) => closed))

  for (const exchange of exchanges) await exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  await Promise.all(asked)
  await enough

  expect(closed).toBe(44)
  await Promise.all(held.map(() => ask()))
  expect(upstream.connections).toBe(344)
})

test('a large request goes up whole, at the pace of the server', async () => {
  const body = 'Ein Stück Text. '.repeat(1024 * 1024)

  await wholeOf(http.begin(requestTo(upstream.baseUrl), body))

  expect(Bun.hash(upstream.requests[0]!.body)).toBe(Bun.hash(body))
})

test('pieces that were handed over do not change with what comes after', async () => {
  const held = upstream.hold()
  const running = http.begin(requestTo(upstream.baseUrl), '')
  const exchange = await held
  await exchange.write(replies.head(200, { 'content-length': '2000' }))
  const pieces: Uint8Array[] = []
  for (const letter of 'ab') {
    await exchange.write(letter.repeat(1000))
    pieces.push((await pieceOf(running)) ?? new Uint8Array())
  }

  expect(pieces.map(piece => Buffer.from(piece).toString()).join('')).toBe(
    'a'.repeat(1000) + 'b'.repeat(1000),
  )
})

test('2,000 calls that end in every way leave no socket, timer or listener', async () => {
  const provider = openAiCompatible({ deadlines, http, secretOf: () => undefined })
  const row = {
    id: 'main',
    kind: 'openai-compatible',
    baseUrl: upstream.baseUrl,
    secret: { from: 'none' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
  } as const
  const ways = [
    replies.chatAnswer(),
    replies.sse(['data: 1\n\n', 'data: [DONE]\n\n']),
    replies.resetBeforeHeaders(),
    replies.resetAfterHeaders(),
    replies.badChunk(),
    replies.cutChunked(['a']),
    replies.closeDelimited('{}'),
    replies.silence(),
  ]
  const closed: Promise<void>[] = []
  let turn = 0
  upstream.reply(exchange => {
    closed.push(exchange.closed)
    return ways[(turn += 1) % ways.length]!(exchange)
  })
  const kept = new AbortController()
  const call = async (index: number) => {
    const leaving = new AbortController()
    const common = { provider: row, route: 'chat', model: 'm', body: '{"model":"m"}' } as const
    const running =
      index % 2 === 0
        ? provider.complete(
            { ...common, readTimeoutMs: 1000 },
            index % 3 === 0 ? leaving.signal : kept.signal,
          )
        : provider.stream({ ...common, firstByteTimeoutMs: 1000, idleTimeoutMs: 1000 }, kept.signal)
    await turns(index % 7)
    leaving.abort()
    const outcome = await running
    if (outcome.outcome !== 'opened') return
    while ((await nextOf(outcome.body)) instanceof Uint8Array);
  }
  for (let first = 0; first < 2000; first += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => call(first + index))
    // The silent ones run into their limits, however many turns the others took before.
    for (let round = 0; round < 30; round += 1) {
      await turns(5)
      clock.advance(100)
    }
    await Promise.all(batch)
  }

  http.close()
  await Promise.all(closed)

  expect(closed.length).toBeGreaterThan(1000)
  expect(clock.waiting).toBe(0)
  expect(getEventListeners(kept.signal, 'abort')).toEqual([])
})

/** An exchange whose answer has been read, so that its connection waits. */
async function heldAnswer(): Promise<Exchange> {
  const held = upstream.hold()
  const asked = ask()
  const exchange = await held
  await exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  await asked
  return exchange
}

function ask(): Promise<string> {
  return askAt(upstream.baseUrl)
}

async function askAt(url: string): Promise<string> {
  try {
    return await wholeOf(http.begin(requestTo(url), '{}'))
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}

/** The body of the whole answer. */
function wholeOf(exchange: HttpExchange): Promise<string> {
  return new Promise((resolve, reject) =>
    exchange.answer(10_000, {
      onAnswer: (_, bytes, start, end) => resolve(bytes.toString('utf8', start, end)),
      onTooLarge: () => resolve('too large'),
      onFailed: reject,
    }),
  )
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(resolve => setImmediate(resolve))
}

function requestTo(url: string) {
  return httpRequest(new URL(url), new Headers())
}
