import type { Clock } from '../../gateway/ports/clock.ts'
import type { Fingerprint, ReplayBudget, Replays } from '../../gateway/ports/replays.ts'
import { AnswerLog, type RecordOffset } from './answer-log.ts'

/**
 * The answers of one bucket form a chain. With fifty thousand answers most buckets are empty, so a lookup seldom reads
 * the answer of another request, which would be in memory that nothing has touched for long.
 */
const BUCKETS = 1 << 18

/**
 * Keeps answers in this process. All live equally long, so the oldest one expires first. They share a budget with other
 * parts. An answer that does not fit is not kept; an answer that is kept is never dropped early.
 */
export function memoryReplays(
  { budget, clock }: { readonly budget: ReplayBudget; readonly clock: Clock },
  { ttlMs }: { readonly ttlMs: number },
): Replays {
  const log = new AnswerLog(budget)
  /** The latest answer of each bucket, which names the one before it. */
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
      let position: RecordOffset = latest[bucketOf(fingerprint)] ?? -1
      while (position >= log.oldest) {
        if (log.isOf(position, fingerprint)) return Promise.resolve(log.answer(position))
        position = log.earlierThan(position)
      }
      return Promise.resolve(undefined)
    },
    keep(fingerprint, answer) {
      const nowMs = clock.monotonicMs()
      dropExpired(nowMs)
      const expiresAtMs = nowMs + ttlMs
      const bucket = bucketOf(fingerprint)
      const earlier = latest[bucket] ?? -1
      const position = log.append(fingerprint, { expiresAtMs, earlier }, answer)
      if (position === undefined) return Promise.resolve()
      latest[bucket] = position
      if (oldestExpiresAtMs === Infinity) oldestExpiresAtMs = expiresAtMs
      return Promise.resolve()
    },
  }
}

/** A digest is as good as random. Of each of its characters, six bits are used. */
function bucketOf({ digest }: Fingerprint): number {
  return (
    ((digest.charCodeAt(0) & 63) << 12) | ((digest.charCodeAt(1) & 63) << 6) | (digest.charCodeAt(2) & 63)
  )
}
