import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCatalogOf, aDestination } from '../../../test/support/upstream-rows.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Destination } from './destinations.ts'
import {
  CircuitBreakers,
  FAILURES_BEFORE_OPEN,
  OPEN_MS_FIRST,
  OPEN_MS_MAX,
  RETRY_WINDOW_MS,
  RetryBudgets,
  type HealthSignal,
} from './upstream-health.ts'

const UNHEALTHY: HealthSignal = { signal: 'unhealthy', retryAfterMs: undefined }
const HEALTHY: HealthSignal = { signal: 'healthy' }
const HOUR_MS = 3_600_000

const main = aDestination('main')
const spare = aDestination('spare')

function setUp() {
  const clock = fakeClock()
  let catalog: Catalog = aCatalogOf([main, spare])
  const breakers = new CircuitBreakers({ catalog: { current: () => catalog }, clock })
  const call = (signal: HealthSignal, destination: Destination = main) => breakers.begin(destination)(signal)
  return {
    clock,
    breakers,
    call,
    edit: (destinations: readonly Destination[]) => (catalog = aCatalogOf(destinations)),
    mayCall: (destination: Destination = main) => breakers.openUntilMs(destination) === undefined,
    /** Fails until the breaker opens for the first time. */
    open: () => {
      for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) call(UNHEALTHY)
    },
  }
}

describe('a circuit breaker', () => {
  test('a circuit breaker opens after three consecutive failures', () => {
    const { call, mayCall } = setUp()
    const seen: boolean[] = []

    for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) {
      call(UNHEALTHY)
      seen.push(mayCall())
    }

    expect(seen).toEqual([true, true, false])
  })

  test('an upstream fails from its third failure in a row to its next success, and not after one rate limit', () => {
    const { breakers, call, clock, open } = setUp()
    call({ signal: 'unhealthy', retryAfterMs: 12_000 }, spare)
    open()

    expect(breakers.failing()).toMatchObject([{ provider: 'main', sinceMs: clock.monotonicMs() }])
    clock.advance(OPEN_MS_FIRST)
    call(HEALTHY)
    expect(breakers.failing()).toEqual([])
  })

  test('a circuit breaker stays closed if successes come between the failures', () => {
    const { call, mayCall } = setUp()

    for (const signal of [UNHEALTHY, UNHEALTHY, HEALTHY, UNHEALTHY, UNHEALTHY]) call(signal)

    expect(mayCall()).toBe(true)
  })

  test('a circuit breaker ignores calls that say nothing about the upstream’s health', () => {
    const { call, mayCall } = setUp()

    for (let times = 0; times < 10; times += 1) call({ signal: 'none' })

    expect(mayCall()).toBe(true)
  })

  test('a circuit breaker does not affect other upstreams', () => {
    const { call, open, breakers, mayCall } = setUp()
    call(UNHEALTHY, spare)

    open()

    expect(mayCall(spare)).toBe(true)
    expect(breakers.open).toBe(1)
  })

  test('a circuit breaker is open until its time is over', () => {
    const { clock, open, breakers, mayCall } = setUp()
    const nowMs = clock.monotonicMs()

    open()

    expect(breakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_FIRST)
    clock.advance(OPEN_MS_FIRST - 1)
    expect(mayCall()).toBe(false)
    clock.advance(1)
    expect(mayCall()).toBe(true)
    expect(breakers.open).toBe(0)
  })

  test.each([-HOUR_MS, HOUR_MS])(
    'a circuit breaker is open for the same time if the wall clock moves by %d ms',
    moveMs => {
      const { clock, open, mayCall } = setUp()
      open()

      clock.setWallClock(clock.now() + moveMs)

      clock.advance(OPEN_MS_FIRST - 1)
      expect(mayCall()).toBe(false)
      clock.advance(1)
      expect(mayCall()).toBe(true)
    },
  )

  test('a circuit breaker stays open twice as long after each failed probe, up to a maximum', () => {
    const { clock, call, open, breakers } = setUp()
    const lengths: number[] = []
    open()

    for (let times = 0; times < 8; times += 1) {
      const openMs = breakers.openUntilMs(main)! - clock.monotonicMs()
      lengths.push(openMs / OPEN_MS_FIRST)
      clock.advance(openMs)
      call(UNHEALTHY)
    }

    expect(lengths).toEqual([1, 2, 4, 4, 4, 4, 4, 4])
    expect(OPEN_MS_MAX).toBe(20_000)
  })

  test('a circuit breaker does not stay open longer because many calls were running when it opened', () => {
    const { clock, breakers } = setUp()
    const nowMs = clock.monotonicMs()
    const running = Array.from({ length: 100 }, () => breakers.begin(main))

    for (const end of running) end(UNHEALTHY)

    expect(breakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_FIRST)
  })

  test('a circuit breaker opens at once for the time of a Retry-After', () => {
    const { clock, call, breakers } = setUp()
    const nowMs = clock.monotonicMs()

    call({ signal: 'unhealthy', retryAfterMs: 12_000 })

    expect(breakers.openUntilMs(main)).toBe(nowMs + 12_000)
  })

  test('a circuit breaker never stays open longer than the maximum, also for a longer Retry-After', () => {
    const { clock, call, breakers } = setUp()
    const nowMs = clock.monotonicMs()

    call({ signal: 'unhealthy', retryAfterMs: 86_400_000 })

    expect(breakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_MAX)
  })

  test('a circuit breaker stays open if a call that began before the failures succeeds late', () => {
    const { open, breakers, mayCall } = setUp()
    const slow = breakers.begin(main)
    open()

    slow(HEALTHY)

    expect(mayCall()).toBe(false)
  })
})

describe('a half-open circuit breaker', () => {
  function halfOpen() {
    const set = setUp()
    set.open()
    set.clock.advance(OPEN_MS_FIRST)
    return set
  }

  test('a half-open circuit breaker lets one probe through at a time', () => {
    const { breakers, mayCall } = halfOpen()

    const end = breakers.begin(main)

    expect(mayCall()).toBe(false)
    end({ signal: 'none' })
    expect(mayCall()).toBe(true)
  })

  test('a half-open circuit breaker closes after a successful probe', () => {
    const { call, mayCall, breakers } = halfOpen()

    call(HEALTHY)

    expect(breakers.size).toBe(0)
    breakers.begin(main)
    expect(mayCall()).toBe(true)
  })

  test('a half-open circuit breaker opens again after a failed probe', () => {
    const { call, mayCall } = halfOpen()

    call(UNHEALTHY)

    expect(mayCall()).toBe(false)
  })
})

describe('a call that is made although the circuit breaker is open', () => {
  test('a call that is made although the circuit breaker is open closes it by a success', () => {
    const { call, open, mayCall } = setUp()
    open()

    call(HEALTHY)

    expect(mayCall()).toBe(true)
  })

  test('a call that is made although the circuit breaker is open does not keep it open longer by a failure', () => {
    const { clock, call, open, breakers } = setUp()
    open()
    const untilMs = clock.monotonicMs() + OPEN_MS_FIRST

    call(UNHEALTHY)

    expect(breakers.openUntilMs(main)).toBe(untilMs)
  })
})

describe('an edit of the catalog', () => {
  test('an edit of the catalog closes the circuit breakers of a provider that was changed', () => {
    const { open, breakers } = setUp()
    open()
    const fixed: Destination = {
      ...main,
      provider: { ...main.provider, baseUrl: 'https://fixed.example.com' },
    }

    expect(breakers.openUntilMs(fixed)).toBeUndefined()
  })

  test('an edit of the catalog drops the circuit breakers of removed rows with the next failure', () => {
    const { call, edit, breakers } = setUp()
    call(UNHEALTHY, main)
    edit([spare])

    call(UNHEALTHY, spare)

    expect(breakers.size).toBe(1)
  })
})

const { upstream } = aDestination('main')

/** Sends requests that all fail, and counts the retries. */
function retriesOf(budgets: RetryBudgets, requests: number): number {
  let retries = 0
  for (let sent = 0; sent < requests; sent += 1) {
    budgets.countRequest(upstream)
    if (budgets.takeRetry(upstream)) retries += 1
  }
  return retries
}

test.each([
  [1, 1],
  [10, 1],
  [11, 2],
  [100, 10],
])('of %d requests that fail, %d may be retried', (requests, retries) => {
  expect(retriesOf(new RetryBudgets(fakeClock()), requests)).toBe(retries)
})

test('a request can be retried again after the time of the window', () => {
  const clock = fakeClock()
  const budgets = new RetryBudgets(clock)
  retriesOf(budgets, 5)

  clock.advance(RETRY_WINDOW_MS - 1)
  const before = retriesOf(budgets, 1)
  clock.advance(1)

  expect([before, retriesOf(budgets, 1)]).toEqual([0, 1])
})

test('requests of an earlier window allow no retries', () => {
  const clock = fakeClock()
  const budgets = new RetryBudgets(clock)
  retriesOf(budgets, 1)
  for (let sent = 0; sent < 1000; sent += 1) budgets.countRequest(upstream)

  clock.advance(RETRY_WINDOW_MS)

  expect(retriesOf(budgets, 10)).toBe(1)
})

test('an upstream that was never called has no retries', () => {
  expect(new RetryBudgets(fakeClock()).takeRetry(upstream)).toBe(false)
})
