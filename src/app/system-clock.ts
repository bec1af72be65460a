import type { Clock } from '../gateway/ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, then) => {
    const timer = setTimeout(then, delayMs)
    return () => clearTimeout(timer)
  },
}
