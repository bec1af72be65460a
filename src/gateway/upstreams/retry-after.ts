import type { RetryAfter } from '../ports/text-provider.ts'

/** The wait that an upstream asks for, from `nowMs` in wall time. Undefined if it asks for none that can be read. */
export function retryAfterMs(retryAfter: RetryAfter | undefined, nowMs: number): number | undefined {
  if (retryAfter?.untilMs === undefined) return retryAfter?.delayMs
  return Math.max(0, retryAfter.untilMs - nowMs)
}
