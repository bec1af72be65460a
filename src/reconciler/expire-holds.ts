import type { Ledger } from '../gateway/ports/ledger.ts'

/** A few hundred milliseconds of work. The next pass continues. */
const BATCH = 1000

/** Frees holds that their owner no longer renews. Safe to run on every node at once: each hold is freed once. */
export async function expireHolds(ledger: Ledger, nowMs: number): Promise<{ readonly expired: number }> {
  const holds = await ledger.expiredHolds(BATCH)
  const freed = await Promise.all(holds.map(hold => ledger.expireHold(hold, nowMs)))
  return { expired: freed.filter(isFreed => isFreed).length }
}
