import { until } from './until.ts'

const DAY_MS = 86_400_000
/** Longer than a test of one day or month takes. */
const SOON_MS = 20_000

/**
 * Resolves when no UTC day, and with it no month, ends soon. It waits only in the last seconds of a day, for tests of
 * what happened today or this month that cannot have a clock of their own.
 */
export function farFromMidnight(): Promise<void> {
  return until('the next day begins', () => DAY_MS - (Date.now() % DAY_MS) > SOON_MS)
}
