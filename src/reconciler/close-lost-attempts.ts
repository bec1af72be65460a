import { LATE_MS } from '../gateway/upstreams/late-answers.ts'
import type { Attempts } from '../gateway/ports/attempts.ts'

/** Longer than any late call can last. The process of an older open attempt has ended. */
export const LOST_AFTER_MS = LATE_MS + 60_000

const BATCH = 1000

/** Closes attempts whose call can no longer end. Safe to run on every node at once. */
export async function closeLostAttempts(
  attempts: Attempts,
  nowMs: number,
): Promise<{ readonly closed: number }> {
  return { closed: await attempts.closeOlder({ atMs: nowMs - LOST_AFTER_MS, limit: BATCH }) }
}
