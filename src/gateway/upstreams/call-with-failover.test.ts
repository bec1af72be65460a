import { describe, expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { scriptedUpstreams } from '../../../test/support/scripted-upstreams.ts'
import { turn } from '../../../test/support/turn.ts'
import { aDestination, aFailure, aRefusal, anAnswer } from '../../../test/support/upstream-rows.ts'
import type { CallResult } from './attempt-result.ts'
import {
  RETRY_MS_MIN,
  callWithFailover,
  chooseUpstream,
  retryDelayMs,
  type CallUpstream,
} from './call-with-failover.ts'
import type { UpstreamsRecord } from './report-attempts.ts'
import { OPEN_MS_FIRST } from './upstream-health.ts'

const READ_MS = 300_000
const HOUR_MS = 3_600_000

/** Upstreams as in `scriptedUpstreams`, and how a request calls them. */
function setUp(results: Parameters<typeof scriptedUpstreams>[0]) {
  const { ports, call: scripted, ...upstreams } = scriptedUpstreams(results)
  const run = async (call = scripted) => {
    const record: UpstreamsRecord = {}
    const { selected } = await callWithFailover(
      { destinations: upstreams.destinations, record },
      call,
      ports,
      {
        failOverWithinMs: READ_MS,
      },
    )
    return { ...selected, record }
  }
  return { run, ...upstreams }
}

describe('upstreams are called', () => {
  test('one after the other until one answers', async () => {
    const answer = anAnswer()
    const { run, called } = setUp({
      a: [aFailure()],
      b: [aFailure('not_offered')],
      c: [answer],
      d: [anAnswer()],
    })

    const { result, destination, number } = await run()

    expect(result).toBe(answer)
    expect([destination.provider.id, number]).toEqual(['c', 3])
    expect(called).toEqual(['a', 'b', 'c'])
  })

  test('no further upstream is called after one refuses the request itself', async () => {
    const { run, called } = setUp({ a: [aRefusal()], b: [anAnswer()] })

    const { result } = await run()

    expect(result.kind).toBe('refusal')
    expect(called).toEqual(['a'])
  })

  test('no further upstream is called after one times out, because it may still finish and bill', async () => {
    const { run, called } = setUp({ a: [{ kind: 'timeout' }], b: [anAnswer()] })

    const { result } = await run()

    expect(result.kind).toBe('timeout')
    expect(called).toEqual(['a'])
  })

  test('every upstream is called once, until all have failed', async () => {
    const ids = Array.from({ length: 16 }, (_, index) => `u${index}`)
    const { run, called } = setUp(Object.fromEntries(ids.map(id => [id, [aFailure()]])))

    await run()

    expect(called).toEqual(ids)
  })

  test('no further upstream is called after the time for a whole answer', async () => {
    const { run, called, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })

    const { result } = await run(async ({ provider }) => {
      called.push(provider.id)
      clock.advance(READ_MS)
      return aFailure('unreachable')
    })

    expect(result.kind).toBe('failure')
    expect(called).toEqual(['a'])
  })

  test.each([-HOUR_MS, HOUR_MS])(
    'upstreams are called for the same time if the wall clock moves by %d ms',
    async moveMs => {
      const { run, called, clock } = setUp({ a: [], b: [], c: [anAnswer()] })

      await run(async ({ provider }) => {
        called.push(provider.id)
        clock.setWallClock(clock.now() + moveMs)
        clock.advance(READ_MS / 2)
        return aFailure('unreachable')
      })

      expect(called).toEqual(['a', 'b'])
    },
  )

  test('the only upstream of a model is called although its circuit breaker is open, and counts as failing', async () => {
    const { run, called, circuitBreakers } = setUp({ a: [aFailure()] })

    for (let times = 0; times < 5; times += 1) await run()

    expect(called).toHaveLength(5)
    expect(circuitBreakers.open).toBe(1)
    expect(circuitBreakers.failing()).toMatchObject([{ provider: 'a' }])
  })
})

describe('the last upstream', () => {
  const brief = { ...aFailure('server'), status: 503 }

  /** Runs a request, and passes the pause before its retry. */
  async function runWithRetry({ run, clock }: ReturnType<typeof setUp>) {
    const pending = run()
    await turn()
    clock.advance(RETRY_MS_MIN)
    return pending
  }

  test('the last upstream is called once more after a failure that may be over', async () => {
    const set = setUp({ a: [brief, anAnswer()] })

    const { result, number } = await runWithRetry(set)

    expect([result.kind, number]).toEqual(['answer', 2])
    expect(set.called).toEqual(['a', 'a'])
    expect(set.circuitBreakers.size).toBe(0)
  })

  test('the last upstream is called once more after the others have failed', async () => {
    const set = setUp({ a: [aFailure()], b: [brief, anAnswer()] })

    const { result, record } = await runWithRetry(set)

    expect(result.kind).toBe('answer')
    expect(set.called).toEqual(['a', 'b', 'b'])
    expect(record.failedOverFrom).toEqual(['a: a server problem', 'b: a server problem'])
  })

  test('the last upstream is not called a third time', async () => {
    const set = setUp({ a: [brief] })

    const { result } = await runWithRetry(set)

    expect(result).toBe(brief)
    expect(set.called).toEqual(['a', 'a'])
    expect(set.clock.waiting).toBe(0)
  })

  test('the last upstream is not called again before the pause is over', async () => {
    const set = setUp({ a: [brief] })
    const pending = set.run()
    await turn()

    set.clock.advance(RETRY_MS_MIN - 1)
    await turn()
    const called = [...set.called]
    set.clock.advance(1)
    await pending

    expect(called).toEqual(['a'])
  })

  test('the last upstream is not called again if its circuit breaker is open', async () => {
    const { run, called, circuitBreakers, destinations } = setUp({ a: [aFailure()], b: [brief] })
    circuitBreakers.begin(destinations[1]!)({ signal: 'unhealthy', retryAfterMs: 5000 })

    await run()

    expect(called).toEqual(['a', 'b'])
  })

  test('the last upstream is not called again if its circuit breaker opens during the pause', async () => {
    const { run, called, clock, circuitBreakers, destinations } = setUp({ a: [aFailure()], b: [brief] })
    const pending = run()
    await turn()

    circuitBreakers.begin(destinations[1]!)({ signal: 'unhealthy', retryAfterMs: 5000 })
    clock.advance(RETRY_MS_MIN)
    await pending

    expect(called).toEqual(['a', 'b'])
  })

  test('the last upstream is not called again if too many of its requests were retried', async () => {
    const set = setUp({ a: [brief] })
    await runWithRetry(set)
    set.called.length = 0

    for (let times = 0; times < 9; times += 1) await set.run()

    expect(set.called).toHaveLength(9)
  })

  test('the last upstream is not called again if its provider has no retries', async () => {
    const set = setUp({ a: [brief] })
    set.destinations[0] = {
      ...set.destinations[0]!,
      provider: { ...set.destinations[0]!.provider, retries: 0 },
    }

    await set.run()

    expect(set.called).toEqual(['a'])
  })

  test('the last upstream is not called again after the time of the request', async () => {
    const { run, called, clock } = setUp({ a: [] })

    await run(async ({ provider }) => {
      called.push(provider.id)
      clock.advance(READ_MS)
      return brief
    })

    expect(called).toEqual(['a'])
  })
})

describe('an upstream with an open circuit breaker', () => {
  test('an upstream with an open circuit breaker is skipped, and probed when the time is over', async () => {
    const { run, called, clock } = setUp({
      a: [aFailure(), aFailure(), aFailure(), anAnswer()],
      b: [anAnswer()],
    })
    for (let times = 0; times < 3; times += 1) await run()
    called.length = 0

    await run()
    clock.advance(OPEN_MS_FIRST)
    await run()

    expect(called).toEqual(['b', 'a'])
  })

  test('upstreams with open circuit breakers are called after the others, the one that closes first before the next', async () => {
    const { run, called, clock } = setUp({
      a: [aFailure('rate_limited', '9')],
      b: [aFailure('rate_limited', '5')],
      c: [aFailure()],
    })
    await run()
    clock.advance(1000)
    called.length = 0

    const { result } = await run()

    expect(called).toEqual(['c', 'b', 'a'])
    expect(result).toMatchObject({ reason: 'rate_limited', retryAfter: { text: '5' } })
  })

  test('an upstream is called although all circuit breakers are open, so that one that has recovered answers', async () => {
    const { run, called } = setUp({
      a: [aFailure()],
      b: [aFailure(), aFailure(), aFailure(), anAnswer()],
    })
    for (let times = 0; times < 3; times += 1) await run()
    called.length = 0

    const { result } = await run()

    expect(called).toEqual(['a', 'b'])
    expect(result.kind).toBe('answer')
  })

  test('an upstream with an open circuit breaker is probed by one request at a time', async () => {
    const { run, called, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })
    for (let times = 0; times < 3; times += 1) await run()
    clock.advance(OPEN_MS_FIRST)
    called.length = 0
    const hanging = Promise.withResolvers<CallResult>()
    const probe = run(({ provider }) => (provider.id === 'a' ? hanging.promise : Promise.resolve(anAnswer())))

    await Promise.all([run(), run(), run()])
    hanging.resolve(anAnswer())
    await probe

    expect(called).toEqual(['b', 'b', 'b'])
  })

  test('an upstream is probed by the next request if the first probe threw', async () => {
    const { run, called, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })
    for (let times = 0; times < 3; times += 1) await run()
    clock.advance(OPEN_MS_FIRST)
    called.length = 0

    const error = await rejection(run(() => Promise.reject(new Error('a bug'))))
    await run()

    expect(error).toHaveProperty('message', 'a bug')
    expect(called).toEqual(['a', 'b'])
  })
})

describe('a stream that is given up because of its first byte', () => {
  test('a stream may be given up once, and only if another upstream is left', async () => {
    const { run } = setUp({ a: [], b: [], c: [], d: [] })
    const mayGiveUp: boolean[] = []

    await run(async ({ provider }, may) => {
      mayGiveUp.push(may)
      return aFailure(provider.id === 'b' ? 'first_byte_timeout' : 'server')
    })

    expect(mayGiveUp).toEqual([true, true, false, false])
  })

  test('a stream of the only upstream, or of the last one, may not be given up', async () => {
    const mayGiveUp: boolean[] = []
    const call: CallUpstream<CallResult> = async (_, may) => {
      mayGiveUp.push(may)
      return aFailure()
    }

    await setUp({ a: [] }).run(call)
    await setUp({ a: [], b: [] }).run(call)

    expect(mayGiveUp).toEqual([false, true, false])
  })
})

describe('the record', () => {
  test('the record names the upstream whose result the client gets, and the earlier failures', async () => {
    const { run } = setUp({ a: [aFailure('server')], b: [anAnswer()] })

    const { record } = await run()

    expect(record).toEqual({
      provider: 'b',
      upstreamStatus: 200,
      failedOverFrom: ['a: a server problem'],
      upstreamFailures: [{ provider: 'a', reason: 'server' }],
      attempts: [{ provider: 'a', reason: 'server' }, { provider: 'b' }],
    })
  })

  test('the record names the upstream of an empty answer, with its status', async () => {
    const { run } = setUp({ a: [anAnswer({ isEmpty: true })], b: [{ ...aFailure(), status: 504 }] })

    const { record } = await run()

    expect(record).toEqual({
      provider: 'a',
      upstreamStatus: 200,
      failedOverFrom: ['b: a server problem'],
      upstreamFailures: [{ provider: 'b', reason: 'server' }],
      attempts: [{ provider: 'a' }, { provider: 'b', reason: 'server' }],
    })
  })

  test('the record has no status if the upstream was not reached', async () => {
    const { run } = setUp({ a: [{ ...aFailure('not_offered'), status: 404 }], b: [aFailure('unreachable')] })

    const { record } = await run()

    expect(record).toEqual({
      provider: 'b',
      failedOverFrom: ['a: a not_offered problem'],
      upstreamFailures: [
        { provider: 'a', reason: 'not_offered' },
        { provider: 'b', reason: 'unreachable' },
      ],
      attempts: [
        { provider: 'a', reason: 'not_offered' },
        { provider: 'b', reason: 'unreachable' },
      ],
    })
  })

  test('the record counts a failure of the only upstream', async () => {
    const { run } = setUp({ a: [{ kind: 'timeout' }] })

    const { record } = await run()

    expect(record).toEqual({
      provider: 'a',
      upstreamFailures: [{ provider: 'a', reason: 'timeout' }],
      attempts: [{ provider: 'a', reason: 'timeout' }],
    })
  })
})

test('an upstream with a lower order comes first, regardless of its place in the row and its weight', () => {
  const spare = aDestination('spare', { order: 2, weight: 1000 })
  const main = aDestination('main', { order: 1 })

  const chosen = chooseUpstream([spare, main], () => 0.999)

  expect(chosen).toBe(main)
})

test.each([
  [0, 'one'],
  [0.124, 'one'],
  [0.125, 'three'],
  [0.499, 'three'],
  [0.5, 'four'],
  [0.999_999, 'four'],
])('with weights 1, 3 and 4 in one order, the random number %d chooses %s', (random, id) => {
  const group = [
    aDestination('one', { weight: 1 }),
    aDestination('three', { weight: 3 }),
    aDestination('four', { weight: 4 }),
  ]

  const chosen = chooseUpstream(group, () => random)

  expect(chosen?.provider.id).toBe(id)
})

test('without upstreams, the choice is undefined', () => {
  expect(chooseUpstream([], () => 0)).toBeUndefined()
})

const NOW = 1_800_000_000_000

test.each([500, 502, 503])('a whole %d is retried after 250 to 500 ms', status => {
  const failure = { ...aFailure('server'), status }

  expect(retryDelayMs(failure, NOW, () => 0)).toBe(250)
  expect(retryDelayMs(failure, NOW, () => 0.5)).toBe(375)
})

test.each([
  ['0', 250],
  ['1', 1000],
  ['2', 2000],
  [new Date(NOW + 2000).toUTCString(), 2000],
])('a 429 with the Retry-After %s is retried after %d ms', (retryAfter, delayMs) => {
  const failure = { ...aFailure('rate_limited', retryAfter), status: 429 }

  expect(retryDelayMs(failure, NOW, () => 0)).toBe(delayMs)
})

describe('the same upstream is not called again after', () => {
  test.each([
    ['an answer', anAnswer()],
    ['an empty answer', anAnswer({ isEmpty: true })],
    ['a refusal of the request', aRefusal()],
    ['a timeout', { kind: 'timeout' }],
    ['a client that disconnected', { kind: 'aborted' }],
    ['a 429 without a Retry-After', { ...aFailure('rate_limited'), status: 429 }],
    ['a 429 with a longer Retry-After', { ...aFailure('rate_limited', '3'), status: 429 }],
    ['a 503 with a longer Retry-After', { ...aFailure('server', '3'), status: 503 }],
    ['a 504', { ...aFailure('server'), status: 504 }],
    ['a redirect', { ...aFailure('server'), status: 302 }],
    ['an error at the start of a stream', { ...aFailure('server'), status: 200 }],
    ['a connection that broke', aFailure('unreachable')],
    ['a 200 that is not an answer', { ...aFailure('no_answer'), status: 200 }],
    ['a 401', { ...aFailure('unpaid'), status: 401 }],
    ['a 404', { ...aFailure('not_offered'), status: 404 }],
    ['a stream without a first byte', aFailure('first_byte_timeout')],
  ] as const)('the same upstream is not called again after %s', (_, result) => {
    expect(retryDelayMs(result, NOW, () => 0)).toBeUndefined()
  })
})
