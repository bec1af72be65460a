import type { Config } from '../config/config.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import { RequestCoalescer } from '../gateway/replays/request-coalescer.ts'
import { replayBudget } from '../gateway/replays/replay-budget.ts'
import { memoryReplays } from '../stores/memory/replays.ts'

/** How identical requests share one answer. */
export type ReplayParts = {
  /** Undefined where replays are switched off. */
  readonly once: RequestCoalescer | undefined
  /** What kept answers and copies of running streams take up. */
  readonly bytes: () => number
}

/**
 * Opens the replays of the settings: kept in this process, within the budget that they share with the copies of running streams.
 * Nobody waits for another one's answer for longer than a model may take to give it.
 */
export function openReplays(config: Config, clock: Clock): ReplayParts {
  const { replayTtlMs, replayBytesMax, readTimeoutMs } = config
  if (replayTtlMs === 0) return { once: undefined, bytes: () => 0 }
  const budget = replayBudget(replayBytesMax)
  const replays = memoryReplays({ budget, clock }, { ttlMs: replayTtlMs })
  return {
    once: new RequestCoalescer({ replays, budget, sha256, clock }, { patienceMs: readTimeoutMs }),
    bytes: () => budget.taken,
  }
}

function sha256(text: string): Int32Array<ArrayBuffer> {
  const digest = new Int32Array(8)
  Bun.SHA256.hash(text, digest)
  return digest
}
