import { describe, expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { rejection } from '../../../test/support/rejection.ts'
import {
  aCatalogOf,
  aDestination,
  aFailure,
  anAnswer,
  aRefusal,
  anAdmittedRequest,
} from '../../../test/support/upstream-rows.ts'
import type { Attempt } from '../ports/attempts.ts'
import type { Destination } from '../text/resolve-model.ts'
import type { TextTrace } from '../text/text-call.ts'
import { callWithFailover, ATTEMPTS_MAX } from './call-with-failover.ts'
import { OPEN_MS_FIRST, CircuitBreakers } from './circuit-breakers.ts'
import type { CallResult } from './select-result.ts'

const READ_MS = 300_000

type ScriptedAttempt = (destination: Destination, trace: TextTrace) => Promise<CallResult>

/** Rows `a`, `b`, … each of an order of its own, and what each says when it is asked; the last one of a list again and again. */
function setUp(says: Readonly<Record<string, readonly CallResult[]>>) {
  const clock = fakeClock()
  const destinations = Object.keys(says).map((id, index) => aDestination(id, { order: index + 1 }))
  const circuitBreakers = new CircuitBreakers({ catalog: { current: () => aCatalogOf(destinations) }, clock })
  const asked: string[] = []
  const turns = new Map<string, number>()
  const asSaid: ScriptedAttempt = async ({ provider: { id } }) => {
    asked.push(id)
    const turn = turns.get(id) ?? 0
    turns.set(id, turn + 1)
    return says[id]!.at(Math.min(turn, says[id]!.length - 1))!
  }
  const recorded: Attempt[] = []
  const attempts = { record: async (attempt: Attempt) => void recorded.push(attempt) }
  const onSettleFailed = (error: unknown) => {
    throw error
  }
  const ask = async (attempt = asSaid) => {
    const job = anAdmittedRequest(destinations)
    const { trace } = job.call
    const verdict = await callWithFailover(
      job,
      destination => attempt(destination, trace),
      { circuitBreakers, clock, attempts, onSettleFailed, random: () => 0 },
      { switchWithinMs: READ_MS },
    )
    return { verdict, trace, job }
  }
  return { ask, asked, clock, circuitBreakers, destinations, recorded }
}

describe('upstreams are asked', () => {
  test('one after the other until one answers', async () => {
    const answer = anAnswer()
    const { ask, asked } = setUp({
      a: [aFailure()],
      b: [aFailure('not_offered')],
      c: [answer],
      d: [anAnswer()],
    })

    const { verdict } = await ask()

    expect(verdict).toBe(answer)
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  test('no further where the request itself was refused', async () => {
    const { ask, asked } = setUp({ a: [aRefusal()], b: [anAnswer()] })

    const { verdict } = await ask()

    expect(verdict.verdict).toBe('refusal')
    expect(asked).toEqual(['a'])
  })

  test('each once, and no more of them than a request may take', async () => {
    const ids = Array.from({ length: ATTEMPTS_MAX + 2 }, (_, index) => `u${index}`)
    const { ask, asked } = setUp(Object.fromEntries(ids.map(id => [id, [aFailure()]])))

    await ask()

    expect(asked).toEqual(ids.slice(0, ATTEMPTS_MAX))
  })

  test('no further once the time of a whole answer has passed', async () => {
    const { ask, asked, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })

    const { verdict } = await ask(async ({ provider }) => {
      asked.push(provider.id)
      clock.advance(READ_MS)
      return aFailure('unreachable')
    })

    expect(verdict.verdict).toBe('failure')
    expect(asked).toEqual(['a'])
  })

  test('only as they come where there is but one', async () => {
    const { ask, asked, circuitBreakers } = setUp({ a: [aFailure()] })

    for (let times = 0; times < 5; times += 1) await ask()

    expect(asked).toHaveLength(5)
    expect(circuitBreakers.size).toBe(0)
  })
})

describe('an upstream that rests', () => {
  test('is left out, and tried again when its rest is over', async () => {
    const { ask, asked, clock } = setUp({
      a: [aFailure(), aFailure(), aFailure(), anAnswer()],
      b: [anAnswer()],
    })
    for (let times = 0; times < 3; times += 1) await ask()
    asked.length = 0

    await ask()
    clock.advance(OPEN_MS_FIRST)
    await ask()

    expect(asked).toEqual(['b', 'a'])
  })

  test('is asked all the same where no other is left, and then no further one', async () => {
    const { ask, asked, clock } = setUp({
      a: [aFailure('rate_limited', '9')],
      b: [aFailure('rate_limited', '5')],
      c: [aFailure()],
    })
    await ask()
    clock.advance(1000)
    asked.length = 0

    const { verdict } = await ask()

    expect(asked).toEqual(['c', 'b'])
    expect(verdict).toMatchObject({ reason: 'rate_limited', retryAfterS: '5' })
  })

  test('is tried by one request at a time', async () => {
    const { ask, asked, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })
    for (let times = 0; times < 3; times += 1) await ask()
    clock.advance(OPEN_MS_FIRST)
    asked.length = 0
    const hanging = Promise.withResolvers<CallResult>()
    const tryA = ask(({ provider }) => (provider.id === 'a' ? hanging.promise : Promise.resolve(anAnswer())))

    await Promise.all([ask(), ask(), ask()])
    hanging.resolve(anAnswer())
    await tryA

    expect(asked).toEqual(['b', 'b', 'b'])
  })

  test('is tried by the next one where the first try threw', async () => {
    const { ask, asked, clock } = setUp({ a: [aFailure()], b: [anAnswer()] })
    for (let times = 0; times < 3; times += 1) await ask()
    clock.advance(OPEN_MS_FIRST)
    asked.length = 0

    const error = await rejection(ask(() => Promise.reject(new Error('a bug'))))
    await ask()

    expect(error).toHaveProperty('message', 'a bug')
    expect(asked).toEqual(['a', 'b'])
  })
})

describe('an answer that is not handed over', () => {
  test('is recorded with what it used, under the request it was for', async () => {
    const empty = anAnswer({ isEmpty: true })
    const { ask, clock, recorded } = setUp({ a: [aFailure()], b: [empty], c: [anAnswer()] })

    const { job } = await ask()

    expect(recorded).toEqual([
      {
        requestId: job.call.id,
        number: 2,
        accountId: 1,
        apiKeyId: 1,
        route: 'chat',
        model: 'gpt-x',
        provider: 'b',
        tariff: { input: usd('2'), output: usd('10') },
        state: 'abandoned',
        usage: empty.answer.usage!,
        atMs: clock.now(),
      },
    ])
  })

  test('is not recorded where it used nothing', async () => {
    const empty = anAnswer({ isEmpty: true })
    const answer = { ...empty.answer, usage: NO_USAGE }
    const { ask, recorded } = setUp({ a: [{ ...empty, answer }], b: [anAnswer()] })

    await ask()

    expect(recorded).toEqual([])
  })

  test('but one that is, because nothing better came, is not recorded', async () => {
    const { ask, recorded } = setUp({ a: [anAnswer({ isEmpty: true })], b: [aFailure()] })

    await ask()

    expect(recorded).toEqual([])
  })
})

test('a call whose time is over ends where an empty answer is handed over instead', async () => {
  let isAbandoned = false
  const late = { outcome: new Promise<never>(() => undefined), abandon: () => (isAbandoned = true) }
  const { ask } = setUp({ a: [anAnswer({ isEmpty: true })], b: [{ verdict: 'timeout', late }] })

  const { verdict, trace } = await ask()

  expect(verdict.verdict).toBe('answer')
  expect(isAbandoned).toBe(true)
  expect(trace).toMatchObject({
    provider: 'a',
    switchedFrom: ['b: timeout'],
    upstreamFailures: [{ provider: 'b', reason: 'timeout' }],
  })
})

describe('the trace', () => {
  test('names the upstream whose verdict it is, and what went wrong before', async () => {
    const { ask } = setUp({ a: [aFailure('server')], b: [anAnswer()] })

    const { trace } = await ask()

    expect(trace).toEqual({
      provider: 'b',
      switchedFrom: ['a: a server problem'],
      upstreamFailures: [{ provider: 'a', reason: 'server' }],
    })
  })

  test('names the upstream of an empty answer that was kept, with its status', async () => {
    const { ask } = setUp({ a: [], b: [] })

    const { trace } = await ask(async ({ provider }, trace) => {
      trace.upstreamStatus = provider.id === 'a' ? 200 : 500
      return provider.id === 'a' ? anAnswer({ isEmpty: true }) : aFailure()
    })

    expect(trace).toEqual({
      provider: 'a',
      upstreamStatus: 200,
      switchedFrom: ['b: a server problem'],
      upstreamFailures: [{ provider: 'b', reason: 'server' }],
    })
  })

  test('has no status of an upstream that was never reached', async () => {
    const { ask } = setUp({ a: [], b: [] })

    const { trace } = await ask(async ({ provider }, trace) => {
      if (provider.id === 'a') trace.upstreamStatus = 404
      return aFailure(provider.id === 'a' ? 'not_offered' : 'unreachable')
    })

    expect(trace).toEqual({
      provider: 'b',
      switchedFrom: ['a: a not_offered problem'],
      upstreamFailures: [{ provider: 'a', reason: 'not_offered' }],
    })
  })
})
