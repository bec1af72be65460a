import type { BodyLimits } from '../http1/server/request-body.ts'

/**
 * The time limits of every upload: in total, without progress, and its slowest average rate. Time in which the gateway
 * does not read does not count.
 */
export const BODY_TIMES = {
  totalMs: 600_000,
  idleMs: 30_000,
  rateMin: { bytesPerS: 1024, afterMs: 30_000 },
} as const satisfies Omit<BodyLimits, 'bytesMax'>
