import type { Clock } from '../../gateway/ports/clock.ts'
import { fingerprintKey, type ReplayBudget, type Replays } from '../../gateway/ports/requests/replays.ts'
import { AnswerLog, type RecordOffset } from './answer-log.ts'

/**
 * Keeps answers in this process. All live equally long, so the oldest one expires first. They share a budget with other
 * parts. An answer that does not fit is not kept; an answer that is kept is never dropped early.
 */
export function memoryReplays(
  { budget, clock }: { readonly budget: ReplayBudget; readonly clock: Clock },
  { ttlMs }: { readonly ttlMs: number },
): Replays {
  const log = new AnswerLog(budget)
  /** The latest answer of each fingerprint. */
  const latest = new Map<string, RecordOffset>()
  let oldestExpiresAtMs = Infinity

  const dropExpired = (nowMs: number) => {
    while (oldestExpiresAtMs <= nowMs) {
      const key = fingerprintKey(log.fingerprint(log.oldest))
      if (latest.get(key) === log.oldest) latest.delete(key)
      log.dropOldest()
      oldestExpiresAtMs = log.isEmpty ? Infinity : log.expiresAtMs(log.oldest)
    }
  }

  return {
    find(fingerprint) {
      dropExpired(clock.monotonicMs())
      const position = latest.get(fingerprint.key)
      return Promise.resolve(position === undefined ? undefined : log.answer(position))
    },
    keep(fingerprint, answer) {
      const nowMs = clock.monotonicMs()
      dropExpired(nowMs)
      const expiresAtMs = nowMs + ttlMs
      const position = log.append(fingerprint, answer, expiresAtMs)
      if (position === undefined) return Promise.resolve()
      latest.set(fingerprint.key, position)
      if (oldestExpiresAtMs === Infinity) oldestExpiresAtMs = expiresAtMs
      return Promise.resolve()
    },
  }
}
