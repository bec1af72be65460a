import type { Config } from '../config/config.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import { RequestCoalescer } from '../gateway/replays/request-coalescer.ts'
import { replayBudget } from '../gateway/replays/replay-budget.ts'
import { memoryReplays } from '../stores/memory/replays.ts'

/** The parts for replays of identical requests. */
export type ReplayParts = {
  /** Undefined if replays are off. */
  readonly coalescer: RequestCoalescer | undefined
  /** The memory of kept answers and of copies of running streams. */
  readonly bytes: () => number
}

/**
 * Opens replays with the settings. Answers are kept in this process, in a budget that they share with the copies of
 * running streams. A request waits for the answer of another one for at most the read timeout.
 */
export function openReplays(config: Config, clock: Clock): ReplayParts {
  const { replayTtlMs, replayBytesMax, readTimeoutMs } = config
  if (replayTtlMs === 0) return { coalescer: undefined, bytes: () => 0 }
  const budget = replayBudget(replayBytesMax)
  const replays = memoryReplays({ budget, clock }, { ttlMs: replayTtlMs })
  return {
    coalescer: new RequestCoalescer({ replays, budget, sha256, clock }, { patienceMs: readTimeoutMs }),
    bytes: () => budget.taken,
  }
}

function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'base64')
}
