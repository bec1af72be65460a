import { addUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { Attempts } from '../gateway/ports/ledger/attempts.ts'
import type { Ledger } from '../gateway/ports/ledger/ledger.ts'
import { LATE_MS } from '../gateway/text/late-answers.ts'

/** Longer than any late call can last. The process of an older open attempt has ended. */
export const LOST_AFTER_MS = LATE_MS + 60_000

/** A few hundred milliseconds of work. The rest waits for the next pass. */
const BATCH = 1000

/**
 * Charges and gives back the late answers that upstreams billed after the client got a 504. Safe to run on every node
 * at once and after a crash: each attempt is compensated once. A failure is reported to `onFailed`, and the others
 * continue.
 */
export async function settleLateAnswers(
  { attempts, ledger }: { readonly attempts: Attempts; readonly ledger: Ledger },
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly compensated: number; readonly compensatedUsd: NanoUsd; readonly failed: number }> {
  const billed = await attempts.billed(BATCH)
  const settled = await Promise.allSettled(billed.map(attempt => ledger.compensate(attempt, nowMs)))
  let compensated = 0
  let compensatedUsd = ZERO
  let failed = 0
  for (const outcome of settled) {
    if (outcome.status === 'rejected') {
      failed += 1
      onFailed(outcome.reason)
    } else if (outcome.value.isFirst) {
      compensated += 1
      compensatedUsd = addUsd(compensatedUsd, outcome.value.cost)
    }
  }
  return { compensated, compensatedUsd, failed }
}

/** Closes attempts whose call can no longer end. Safe to run on every node at once. */
export async function closeLostAttempts(
  attempts: Attempts,
  nowMs: number,
): Promise<{ readonly closed: number }> {
  return { closed: await attempts.closeOlder({ atMs: nowMs - LOST_AFTER_MS, limit: BATCH }) }
}
