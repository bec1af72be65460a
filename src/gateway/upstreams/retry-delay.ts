import { retryAfterMs } from './retry-after.ts'
import type { CallResult } from './select-result.ts'

/** The wait before a retry is between these two, so that the retries of many requests do not come at once. */
export const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 500
/** A client retries by itself if it has to wait longer. */
const RETRY_AFTER_MS_MAX = 2_000

/** With these statuses, the upstream itself reports that it has no answer. After other failures it may still bill. */
const RETRIED_STATUSES: ReadonlySet<number | undefined> = new Set([500, 502, 503])

/**
 * How long to wait before the same upstream is called again; undefined if a retry cannot help, or could be billed
 * twice. A longer wait that the upstream asks for is kept, and one of more than two seconds prevents the retry.
 * `random` is at least 0 and below 1. `nowMs` is wall time.
 */
export function retryDelayMs(result: CallResult, nowMs: number, random: () => number): number | undefined {
  if (result.kind !== 'failure') return undefined
  const { reason, status, retryAfter } = result
  const askedMs = retryAfterMs(retryAfter, nowMs)
  const isBrief = reason === 'rate_limited' && askedMs !== undefined
  if (!isBrief && !RETRIED_STATUSES.has(status)) return undefined
  if (askedMs !== undefined && askedMs > RETRY_AFTER_MS_MAX) return undefined
  return Math.max(askedMs ?? 0, RETRY_MS_MIN + random() * (RETRY_MS_MAX - RETRY_MS_MIN))
}
