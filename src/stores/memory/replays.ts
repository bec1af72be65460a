import type { Clock } from '../../gateway/ports/clock.ts'
import type { Fingerprint, ReplayBudget, Replays } from '../../gateway/ports/replays.ts'
import { AnswerLog, type Position } from './answer-log.ts'

/**
 * The answers of a bucket are chained. Where fifty thousand are kept, most buckets are empty: to look at another one's answer is to
 * look at memory that nothing has touched for long.
 */
const BUCKETS = 1 << 18

/**
 * Kept answers in this process. All live equally long, so that the oldest is the first to expire. They share a budget with
 * others; what does not fit is not kept, since an answer that is there was promised to its repeats.
 */
export function memoryReplays(
  { budget, clock }: { readonly budget: ReplayBudget; readonly clock: Clock },
  { ttlMs }: { readonly ttlMs: number },
): Replays {
  const log = new AnswerLog(budget)
  /** The latest of each bucket, which names the one before it. */
  const latest = new Float64Array(BUCKETS).fill(-1)
  let oldestExpiresAtMs = Infinity

  const dropExpired = (nowMs: number) => {
    while (oldestExpiresAtMs <= nowMs) {
      log.dropOldest()
      oldestExpiresAtMs = log.isEmpty ? Infinity : log.expiresAtMs(log.oldest)
    }
  }

  return {
    find(fingerprint) {
      dropExpired(clock.monotonicMs())
      let position: Position = latest[bucketOf(fingerprint)] ?? -1
      while (position >= log.oldest) {
        if (log.isOf(position, fingerprint)) return log.answer(position)
        position = log.earlierThan(position)
      }
      return undefined
    },
    keep(fingerprint, answer) {
      const nowMs = clock.monotonicMs()
      dropExpired(nowMs)
      const expiresAtMs = nowMs + ttlMs
      const bucket = bucketOf(fingerprint)
      const earlier = latest[bucket] ?? -1
      const position = log.append(fingerprint, { expiresAtMs, earlier }, answer)
      if (position === undefined) return
      latest[bucket] = position
      if (oldestExpiresAtMs === Infinity) oldestExpiresAtMs = expiresAtMs
    },
  }
}

/** Any word of a digest tells it from others. */
function bucketOf({ digest }: Fingerprint): number {
  return (digest[0] ?? 0) & (BUCKETS - 1)
}
