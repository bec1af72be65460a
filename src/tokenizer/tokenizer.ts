import type { Clock } from '../gateway/ports/clock.ts'
import type { Tokenizer } from '../gateway/ports/tokenizer.ts'
import { roughCount } from './rough-count.ts'
import { WorkerCounter } from './worker-counter.ts'

/**
 * The characters of one call that are counted exactly; the rest is extrapolated. That is about 50,000 tokens of text in
 * 8 ms, or one second of the worst case.
 */
export const CALL_CHARS_MAX = 200_000
export type OpenTokenizer = Tokenizer & {
  /** Stops the worker. Running and later calls are counted roughly. */
  readonly close: () => void
}

/**
 * A tokenizer in its own thread: counting an answer takes longer than the rest of its processing, and loading the
 * vocabulary (0.3 s, 90 MB) would block every stream. The thread starts with the first call. The clock limits its time
 * for an answer.
 */
export function openTokenizer(
  clock: Pick<Clock, 'after'>,
  workerUrl = new URL('worker.ts', import.meta.url),
): OpenTokenizer {
  const counter = new WorkerCounter(workerUrl, clock)
  return {
    async countTokens(texts) {
      const { start, chars, isAll } = startOf(texts)
      if (chars === 0) return 0
      const tokens = await counter.count(start, chars)
      if (tokens === undefined) return roughCount(texts)
      return isAll ? tokens : Math.ceil((tokens * roughCount(texts)) / roughCount(start))
    },
    close: () => counter.close(),
  }
}

/** The part of the texts that is counted exactly. */
function startOf(texts: readonly string[]) {
  const start: string[] = []
  let chars = 0
  for (const text of texts) {
    const left = CALL_CHARS_MAX - chars
    if (text.length > left) {
      start.push(text.slice(0, left))
      return { start, chars: CALL_CHARS_MAX, isAll: false }
    }
    start.push(text)
    chars += text.length
  }
  return { start, chars, isAll: true }
}
