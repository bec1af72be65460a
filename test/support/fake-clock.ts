import type { Clock } from '../../src/gateway/ports/clock.ts'

export type FakeClock = Clock & {
  /** Moves time on and runs what falls due, in order; what that sets for within the same span runs too. */
  advance(ms: number): void
  /** How many timers wait: none where everything has been cleaned up. */
  readonly waiting: number
}

/** A clock that stands still until a test moves it. */
export function fakeClock(startMs = 1_800_000_000_000): FakeClock {
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>()
  let nowMs = startMs

  return {
    now: () => nowMs,
    after(delayMs, then) {
      const timer = { atMs: nowMs + delayMs, run: then }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const untilMs = nowMs + ms
      for (;;) {
        const [due] = [...timers].filter(timer => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)
        if (due === undefined) break
        timers.delete(due)
        nowMs = Math.max(nowMs, due.atMs)
        due.run()
      }
      nowMs = untilMs
    },
    get waiting() {
      return timers.size
    },
  }
}
