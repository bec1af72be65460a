import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { aFingerprint } from '../../../test/conformance/replays.ts'
import { textOf } from '../../../test/support/byte-streams.ts'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { redisProgram, RedisServer } from '../../../test/support/redis-server.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { redisAddress } from '../../config/forms/servers.ts'
import type { Bytes } from '../../domain/bytes.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import { RequestCoalescer } from '../../gateway/replays/request-coalescer.ts'
import { COPY_BYTES_MAX } from '../../gateway/replays/shared-stream.ts'
import type { StreamEnding, TextResult } from '../../gateway/text/text-result.ts'
import { until } from '../../http1/testing/until.ts'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import { replayBudget } from '../memory/answer-log.ts'
import { memoryReplays } from '../memory/replays.ts'
import { valkeyCache } from './shared-cache.ts'

const program = await redisProgram()
const PATIENCE_MS = 10_000
const TTL_MS = 60_000
const OF_ANSWER = { model: 'gpt-x', rateLimits: [], retryAfter: undefined } as const

const anAnswer = (body: string): TextResult => ({
  ...OF_ANSWER,
  kind: 'answer',
  contentType: 'application/json',
  body,
  usage: null,
  cost: null,
})
const FAILURE: TextResult = { kind: 'error', error: new GatewayError('upstream_error', 'It failed.') }

/** A stream whose pieces the test sends. */
function aStream() {
  const pieces: (Bytes | undefined)[] = []
  let wake = () => {}
  const { promise: ended, resolve: settle } = Promise.withResolvers<StreamEnding>()
  const body: ByteStream = {
    async read() {
      while (pieces.length === 0) await new Promise<void>(resolve => (wake = resolve))
      return pieces.shift()
    },
    cancel() {},
  }
  const push = (piece: Bytes | undefined) => {
    pieces.push(piece)
    wake()
  }
  return {
    result: { ...OF_ANSWER, kind: 'stream', contentType: 'text/event-stream', body, ended } as TextResult,
    send: (text: string) => push(new TextEncoder().encode(text)),
    end() {
      settle({ isWhole: true })
      push(undefined)
    },
  }
}

async function bodyOf(result: TextResult): Promise<string> {
  if (result.kind === 'stream') return textOf(result.body)
  if (result.kind !== 'answer') return result.kind
  return typeof result.body === 'string' ? result.body : new TextDecoder().decode(result.body)
}

describe.skipIf(program === undefined)('two nodes with a shared cache', () => {
  let server: RedisServer
  let clock: FakeClock
  let nodes: readonly [Node, Node]
  type Node = Awaited<ReturnType<typeof aNode>>

  beforeAll(async () => {
    server = await RedisServer.start(program!)
  })
  afterAll(() => server.kill())
  beforeEach(async () => {
    const stranger = await server.stranger()
    await stranger.send('FLUSHALL', [])
    stranger.close()
    clock = fakeClock()
    nodes = [await aNode(), await aNode()]
  })
  afterEach(() => {
    for (const { cache } of nodes) cache.close()
  })

  async function aNode() {
    const cache = valkeyCache(
      {
        server: redisAddress.parse(server.url)!,
        secretKey: new Uint8Array(32),
        clock,
        onChange: { lost() {}, back() {} },
      },
      { ttlMs: TTL_MS },
    )
    await cache.start()
    const budget = replayBudget(1 << 24)
    const coalescer = new RequestCoalescer(
      {
        replays: memoryReplays({ budget, clock }, { ttlMs: TTL_MS }),
        shared: cache,
        budget,
        clock,
        sha256: text => aFingerprint(text).digest,
      },
      { patienceMs: PATIENCE_MS },
    )
    /** The calls of the model by this node. The test answers each. */
    const calls: PromiseWithResolvers<TextResult>[] = []
    const ask = () => {
      const client = new AbortController()
      const call = { ...anAdmittedRequest([aDestination('main')]).call, client }
      const result = coalescer.answer(call, chatDialect, () => {
        const answering = Promise.withResolvers<TextResult>()
        calls.push(answering)
        return answering.promise
      })
      result.catch(() => undefined)
      return { result, client, record: call.record }
    }
    return { cache, ask, calls }
  }

  /** Lets time pass in steps within which the server answers. */
  async function advance(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 50) {
      clock.advance(50)
      for (const { cache } of nodes) await cache.replays.find(aFingerprint('something else'))
    }
  }

  /** The first node calls its model, and the second one waits for it. */
  async function firstCallsAndSecondWaits() {
    const [one, two] = nodes
    const first = one.ask()
    await until('the first node calls its model', () => one.calls.length === 1)
    const second = two.ask()
    await advance(500)
    expect(two.calls).toHaveLength(0)
    return { first, second, call: one.calls[0]!, two }
  }

  test('a request that runs on another node is waited for, and its answer is a replay', async () => {
    const { first, second, call, two } = await firstCallsAndSecondWaits()

    call.resolve(anAnswer('the answer'))
    await first.result
    await advance(600)
    const replay = await second.result

    expect(replay).toMatchObject({ kind: 'answer', isReplay: true, cost: null })
    expect(await bodyOf(replay)).toBe('the answer')
    expect(second.record).toMatchObject({ isReplay: true, model: 'gpt-x' })
    expect(two.calls).toHaveLength(0)
  })

  test('an answer of another node is a replay without a wait', async () => {
    const [one, two] = nodes
    const first = one.ask()
    await until('the first node calls its model', () => one.calls.length === 1)
    one.calls[0]!.resolve(anAnswer('the answer'))
    await first.result
    await advance(50)

    const later = await two.ask().result

    expect(await bodyOf(later)).toBe('the answer')
    expect(two.calls).toHaveLength(0)
  })

  test('a stream that runs on another node is not followed: its end is awaited, and its frames are a replay', async () => {
    const { first, second, call, two } = await firstCallsAndSecondWaits()
    const stream = aStream()

    call.resolve(stream.result)
    const body = bodyOf(await first.result)
    stream.send('data: one\n\n')
    await advance(600)
    expect(two.calls).toHaveLength(0)
    stream.send('data: [DONE]\n\n')
    stream.end()
    await body
    await advance(600)
    const replay = await second.result

    expect(replay).toMatchObject({ kind: 'answer', contentType: 'text/event-stream', isReplay: true })
    expect(await bodyOf(replay)).toBe('data: one\n\ndata: [DONE]\n\n')
  })

  test('a stream that is too long to be kept is waited for only until that is known', async () => {
    const { first, call, two } = await firstCallsAndSecondWaits()
    const stream = aStream()

    call.resolve(stream.result)
    const { body } = (await first.result) as { body: ByteStream }
    stream.send('x'.repeat(COPY_BYTES_MAX + 1))
    await body.read()
    await advance(600)

    // The stream has not ended.
    expect(two.calls).toHaveLength(1)
  })

  test('after the other node failed, the request calls the model itself', async () => {
    const { first, second, call, two } = await firstCallsAndSecondWaits()

    call.resolve(FAILURE)
    await first.result
    await advance(600)
    two.calls[0]!.resolve(anAnswer('its own'))

    expect(await bodyOf(await second.result)).toBe('its own')
    expect(second.record.isReplay).toBeUndefined()
  })

  test('after the other node died, the request calls the model when the flight has ended', async () => {
    const { two } = await firstCallsAndSecondWaits()

    nodes[0].cache.close()
    await advance(4000)
    const early = two.calls.length
    await advance(2000)

    expect([early, two.calls.length]).toEqual([0, 1])
  })

  test('a request does not wait longer than its patience', async () => {
    const { two } = await firstCallsAndSecondWaits()

    await advance(PATIENCE_MS)

    expect(two.calls).toHaveLength(1)
  })

  test('a request whose client disconnects while it waits ends without a call', async () => {
    const { second, two } = await firstCallsAndSecondWaits()

    second.client.abort()

    expect(await rejection(second.result)).toMatchObject({ code: 'upstream_error' })
    expect(two.calls).toHaveLength(0)
  })

  test('of two requests that wait on one node, one looks and both get the answer', async () => {
    const { first, second, call, two } = await firstCallsAndSecondWaits()
    const third = two.ask()

    call.resolve(anAnswer('the answer'))
    await first.result
    await advance(600)

    expect(await Promise.all([second, third].map(async ({ result }) => bodyOf(await result)))).toEqual([
      'the answer',
      'the answer',
    ])
    expect(two.calls).toHaveLength(0)
  })

  test('a cache that is lost in between makes the waiting request call the model', async () => {
    const { two } = await firstCallsAndSecondWaits()

    await server.kill()
    await until('the loss is seen', () => nodes.every(({ cache }) => !cache.isConnected))
    clock.advance(500)
    await until('the second node calls its model', () => two.calls.length === 1)
    await server.restart()
  })
})
