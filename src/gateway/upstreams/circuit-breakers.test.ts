import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCatalogOf, aDestination } from '../../../test/support/upstream-rows.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Destination } from '../text/resolve-model.ts'
import {
  FAILURES_BEFORE_OPEN,
  OPEN_MS_FIRST,
  OPEN_MS_MAX,
  CircuitBreakers,
  type Effect,
} from './circuit-breakers.ts'

const FAILS: Effect = { effect: 'fails', retryAfterMs: undefined }
const WORKS: Effect = { effect: 'works' }

const main = aDestination('main')
const spare = aDestination('spare')

function setUp() {
  const clock = fakeClock()
  let catalog: Catalog = aCatalogOf([main, spare])
  const circuitBreakers = new CircuitBreakers({ catalog: { current: () => catalog }, clock })
  const attempt = (effect: Effect, destination: Destination = main) =>
    circuitBreakers.begin(destination)(effect)
  return {
    clock,
    circuitBreakers,
    attempt,
    edit: (destinations: readonly Destination[]) => (catalog = aCatalogOf(destinations)),
    isResting: (destination: Destination = main) => circuitBreakers.openUntilMs(destination) !== undefined,
    /** Fails until it circuitBreakers for the first time. */
    rest: () => {
      for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) attempt(FAILS)
    },
  }
}

describe('an upstream rests', () => {
  test('after so many failures in a row, and not before', () => {
    const { attempt, isResting } = setUp()
    const seen: boolean[] = []

    for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) {
      attempt(FAILS)
      seen.push(isResting())
    }

    expect(seen).toEqual([false, false, true])
  })

  test('not while answers come between its failures', () => {
    const { attempt, isResting } = setUp()

    for (const effect of [FAILS, FAILS, WORKS, FAILS, FAILS]) attempt(effect)

    expect(isResting()).toBe(false)
  })

  test('not for what shows nothing either way', () => {
    const { attempt, isResting } = setUp()

    for (let times = 0; times < 10; times += 1) attempt({ effect: 'none' })

    expect(isResting()).toBe(false)
  })

  test('alone: others are asked as before', () => {
    const { attempt, rest, circuitBreakers, isResting } = setUp()
    attempt(FAILS, spare)

    rest()

    expect(isResting(spare)).toBe(false)
    expect(circuitBreakers.open).toBe(1)
  })

  test('until its time is over', () => {
    const { clock, rest, circuitBreakers, isResting } = setUp()
    const nowMs = clock.now()

    rest()

    expect(circuitBreakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_FIRST)
    clock.advance(OPEN_MS_FIRST - 1)
    expect(isResting()).toBe(true)
    clock.advance(1)
    expect(isResting()).toBe(false)
  })

  test('twice as long each time it fails again, up to a most', () => {
    const { clock, attempt, rest, circuitBreakers } = setUp()
    const lengths: number[] = []
    rest()

    for (let times = 0; times < 8; times += 1) {
      const restMs = circuitBreakers.openUntilMs(main)! - clock.now()
      lengths.push(restMs / OPEN_MS_FIRST)
      clock.advance(restMs)
      attempt(FAILS)
    }

    expect(lengths).toEqual([1, 2, 4, 8, 16, 32, OPEN_MS_MAX / OPEN_MS_FIRST, OPEN_MS_MAX / OPEN_MS_FIRST])
  })

  test('no longer for the many that were on their way when it failed', () => {
    const { clock, circuitBreakers } = setUp()
    const nowMs = clock.now()
    const onTheirWay = Array.from({ length: 100 }, () => circuitBreakers.begin(main))

    for (const end of onTheirWay) end(FAILS)

    expect(circuitBreakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_FIRST)
  })

  test('at once, and as long as its Retry-After asks', () => {
    const { clock, attempt, circuitBreakers } = setUp()
    const nowMs = clock.now()

    attempt({ effect: 'fails', retryAfterMs: 42_000 })

    expect(circuitBreakers.openUntilMs(main)).toBe(nowMs + 42_000)
  })

  test('never longer than the most, whatever its Retry-After asks', () => {
    const { clock, attempt, circuitBreakers } = setUp()
    const nowMs = clock.now()

    attempt({ effect: 'fails', retryAfterMs: 86_400_000 })

    expect(circuitBreakers.openUntilMs(main)).toBe(nowMs + OPEN_MS_MAX)
  })

  test('although an answer to something sent before its failures comes late', () => {
    const { rest, circuitBreakers, isResting } = setUp()
    const slow = circuitBreakers.begin(main)
    rest()

    slow(WORKS)

    expect(isResting()).toBe(true)
  })
})

describe('when its rest is over', () => {
  function rested() {
    const set = setUp()
    set.rest()
    set.clock.advance(OPEN_MS_FIRST)
    return set
  }

  test('one request at a time tries it', () => {
    const { circuitBreakers, isResting } = rested()

    const end = circuitBreakers.begin(main)

    expect(isResting()).toBe(true)
    end({ effect: 'none' })
    expect(isResting()).toBe(false)
  })

  test('an answer gives it back to all, as if it had never failed', () => {
    const { attempt, isResting, circuitBreakers } = rested()

    attempt(WORKS)

    expect(circuitBreakers.size).toBe(0)
    circuitBreakers.begin(main)
    expect(isResting()).toBe(false)
  })

  test('one more failure sends it back to rest', () => {
    const { attempt, isResting } = rested()

    attempt(FAILS)

    expect(isResting()).toBe(true)
  })
})

describe('asked in spite of its rest', () => {
  test('an upstream that answers is given back to all', () => {
    const { attempt, rest, isResting } = setUp()
    rest()

    attempt(WORKS)

    expect(isResting()).toBe(false)
  })

  test('one that fails does not rest the longer', () => {
    const { clock, attempt, rest, circuitBreakers } = setUp()
    rest()
    const untilMs = clock.now() + OPEN_MS_FIRST

    attempt(FAILS)

    expect(circuitBreakers.openUntilMs(main)).toBe(untilMs)
  })
})

describe('an edit of the catalog', () => {
  test('ends the rest of an upstream whose provider was changed', () => {
    const { rest, circuitBreakers } = setUp()
    rest()
    const mended: Destination = {
      ...main,
      provider: { ...main.provider, baseUrl: 'https://mended.example.com' },
    }

    expect(circuitBreakers.openUntilMs(mended)).toBeUndefined()
  })

  test('that takes rows away takes what was known of them, with the next failure', () => {
    const { attempt, edit, circuitBreakers } = setUp()
    attempt(FAILS, main)
    edit([spare])

    attempt(FAILS, spare)

    expect(circuitBreakers.size).toBe(1)
  })
})
