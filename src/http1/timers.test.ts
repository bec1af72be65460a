import { beforeEach, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from './testing/fake-clock.ts'
import { Timers, type Timer } from './timers.ts'

let clock: FakeClock
let timers: Timers
let expired: string[]

beforeEach(() => {
  clock = fakeClock()
  timers = new Timers(clock)
  expired = []
})

function aTimer(name: string, inMs: number): Timer {
  return { expiresAtMs: timers.now() + inMs, onExpired: () => void expired.push(name) }
}

test('timers expire in the order of their times', () => {
  for (const [name, inMs] of [
    ['c', 30],
    ['a', 10],
    ['b', 20],
  ] as const)
    timers.start(aTimer(name, inMs))

  clock.advance(20)
  expect(expired).toEqual(['a', 'b'])
  clock.advance(1000)
  expect(expired).toEqual(['a', 'b', 'c'])
  expect(clock.waiting).toBe(0)
})

test('timers of the same time expire in the order in which they were started', () => {
  const early = aTimer('stopped', 10)
  timers.start(early)
  timers.start(aTimer('first', 10))
  timers.start(aTimer('second', 10))
  timers.stop(early)

  clock.advance(10)

  expect(expired).toEqual(['first', 'second'])
})

test('a timer that was moved later expires later', () => {
  const timer = aTimer('moved', 10)
  timers.start(timer)
  timer.expiresAtMs += 10

  clock.advance(19)
  expect(expired).toEqual([])
  clock.advance(1)
  expect(expired).toEqual(['moved'])
})

test('a paused timer does not expire until it is started again', () => {
  const timer = aTimer('paused', 10)
  timers.start(timer)
  timer.expiresAtMs = Infinity
  clock.advance(1000)
  expect(expired).toEqual([])

  timer.expiresAtMs = timers.now() + 5
  timers.start(timer)
  clock.advance(5)

  expect(expired).toEqual(['paused'])
})

test('a timer can stop another one that expires with it, and start itself again', () => {
  const other = aTimer('other', 10)
  const repeated: Timer = {
    expiresAtMs: timers.now() + 10,
    onExpired(nowMs) {
      expired.push('repeated')
      timers.stop(other)
      repeated.expiresAtMs = nowMs + 10
      if (expired.length < 3) timers.start(repeated)
    },
  }
  timers.start(repeated)
  timers.start(other)

  clock.advance(1000)

  expect(expired).toEqual(['repeated', 'repeated', 'repeated'])
  expect(clock.waiting).toBe(0)
})

test('the wall clock does not move timers', () => {
  timers.start(aTimer('timer', 1000))

  clock.setWallClock(clock.now() + 3_600_000)
  clock.advance(999)
  expect(expired).toEqual([])
  clock.setWallClock(clock.now() - 7_200_000)
  clock.advance(1)

  expect(expired).toEqual(['timer'])
})
