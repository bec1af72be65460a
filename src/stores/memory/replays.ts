import type { Clock } from '../../gateway/ports/clock.ts'
import type { KeptAnswer, ReplayBudget, Replays } from '../../gateway/ports/replays.ts'

/** What an entry weighs beside its body: its key, its headers, and the objects that hold them. */
export const ENTRY_BYTES = 512

type Entry = KeptAnswer & { readonly expiresAtMs: number; readonly bytes: number }

/**
 * Kept answers in this process. They share a budget with others; what does not fit is not kept, since an answer that is
 * there was promised to its repeats.
 */
export function memoryReplays(
  { budget, clock }: { readonly budget: ReplayBudget; readonly clock: Clock },
  { ttlMs }: { readonly ttlMs: number },
): Replays {
  // All live equally long, so that the order of insertion is the order of expiry.
  const entries = new Map<string, Entry>()
  let nextExpiryAtMs = Infinity

  const remove = (fingerprint: string, { bytes }: Entry) => {
    entries.delete(fingerprint)
    budget.give(bytes)
  }
  const evictExpired = (nowMs: number) => {
    if (nowMs < nextExpiryAtMs) return
    nextExpiryAtMs = Infinity
    for (const [fingerprint, entry] of entries) {
      if (entry.expiresAtMs > nowMs) {
        nextExpiryAtMs = entry.expiresAtMs
        break
      }
      remove(fingerprint, entry)
    }
  }

  return {
    find(fingerprint) {
      evictExpired(clock.now())
      return entries.get(fingerprint)
    },
    keep(fingerprint, { headers, body }) {
      const nowMs = clock.now()
      evictExpired(nowMs)
      const earlier = entries.get(fingerprint)
      if (earlier !== undefined) remove(fingerprint, earlier)
      const bytes = body.byteLength + ENTRY_BYTES
      if (!budget.take(bytes)) return
      const expiresAtMs = nowMs + ttlMs
      entries.set(fingerprint, { headers, body: ownBytes(body), expiresAtMs, bytes })
      if (nextExpiryAtMs === Infinity) nextExpiryAtMs = expiresAtMs
    },
  }
}

/** A view of a larger buffer would keep all of that alive. */
function ownBytes(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return body.byteLength === body.buffer.byteLength ? body : body.slice()
}
