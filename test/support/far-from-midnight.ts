import { until } from './until.ts'

const DAY_MS = 86_400_000
/** Longer than a test of one day takes, even on a busy machine. */
const LAST_PART_MS = 60_000

/**
 * For a test that cannot have a clock of its own, and that counts what happens on one day or in one month, in UTC. In
 * the last minute of a day, it resolves when the next day has begun.
 */
export function farFromMidnight(): Promise<void> {
  const isFar = () => DAY_MS - (Date.now() % DAY_MS) > LAST_PART_MS
  return until('the next day begins', isFar, 2 * LAST_PART_MS)
}
