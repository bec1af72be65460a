import type { systemClock } from '../system-clock.ts'

export type FakeClock = Readonly<typeof systemClock> & {
  /**
   * Moves both clocks forward and runs the timers that fall due, in order, including timers set meanwhile within the
   * same span.
   */
  advance(ms: number): void
  /**
   * Moves both clocks forward like a machine that was suspended: timers that fall due run once, in order, and late. For
   * days, over which `advance` would run a timer of each second.
   */
  jump(ms: number): void
  /** Sets the wall clock, as an operator or NTP does. The monotonic clock and the timers do not move. */
  setWallClock(nowMs: number): void
  /** The number of pending timers: 0 after everything has been cleaned up. */
  readonly waiting: number
  /** The number of pending timers that were set with exactly this delay. */
  waitingFor(delayMs: number): number
}

type Timer = { readonly atMs: number; readonly delayMs: number; readonly run: () => void }

/** Not zero and far from the wall clock, so that a test fails if the two clocks are mixed up. */
const MONOTONIC_START_MS = 86_400_000

/** A clock that only moves when a test moves it. */
export function fakeClock(startMs = 1_800_000_000_000): FakeClock {
  const timers = new Set<Timer>()
  let monotonicMs = MONOTONIC_START_MS
  let wallOffsetMs = startMs - MONOTONIC_START_MS

  /** The timer that falls due first, if it does by then. */
  const nextDue = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined
    for (const timer of timers)
      if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer
    return next
  }
  const runUntil = (untilMs: number): void => {
    for (let due = nextDue(untilMs); due !== undefined; due = nextDue(untilMs)) {
      timers.delete(due)
      monotonicMs = Math.max(monotonicMs, due.atMs)
      due.run()
    }
  }

  return {
    now: () => monotonicMs + wallOffsetMs,
    monotonicMs: () => monotonicMs,
    after(delayMs, then) {
      const timer = { atMs: monotonicMs + delayMs, delayMs, run: then }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      if (ms < 0) throw new RangeError('The monotonic clock only moves forward. Use setWallClock.')
      const untilMs = monotonicMs + ms
      runUntil(untilMs)
      monotonicMs = untilMs
    },
    jump(ms) {
      if (ms < 0) throw new RangeError('The monotonic clock only moves forward. Use setWallClock.')
      monotonicMs += ms
      runUntil(monotonicMs)
    },
    setWallClock(nowMs) {
      wallOffsetMs = nowMs - monotonicMs
    },
    get waiting() {
      return timers.size
    },
    waitingFor: delayMs => [...timers].filter(timer => timer.delayMs === delayMs).length,
  }
}
