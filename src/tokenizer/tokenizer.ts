import type { Tokenizer } from '../gateway/ports/tokenizer.ts'
import { roughCount } from './rough-count.ts'
import type { CountReply, CountRequest } from './worker.ts'

/**
 * The characters of one call that are counted exactly; the rest is extrapolated. That is about 50,000 tokens of text in 8 ms, or
 * one second of the worst case.
 */
export const CALL_CHARS_MAX = 200_000
/** The most characters that wait for the worker: about 0.2 s of its work. */
export const WAITING_CHARS_MAX = 4_000_000
/** Far longer than the worker needs for the longest queue of ordinary text. Its start takes 0.3 s. */
const ANSWER_WITHIN_MS = 5_000
/** After this many failures, the worker is not started again. */
const WORKER_FAILURES_MAX = 3

export type OpenTokenizer = Tokenizer & {
  /** Stops the worker. Running and later calls are counted roughly. */
  readonly close: () => void
}

/**
 * A tokenizer in its own thread: counting an answer takes longer than the rest of its processing, and loading the vocabulary
 * (0.3 s, 90 MB) would block every stream. The thread starts with the first call.
 */
export function openTokenizer(workerUrl = new URL('worker.ts', import.meta.url)): OpenTokenizer {
  const waiting = new Map<number, (tokens: number | undefined) => void>()
  let waitingChars = 0
  let worker: Worker | undefined
  let failures = 0
  let lastId = 0

  const start = () => {
    // The type is the browser's, which has no `unref`.
    const started = new Worker(workerUrl.href, { smol: true }) as Worker & { unref(): void }
    started.unref()
    started.addEventListener('message', ({ data }: MessageEvent<CountReply>) => {
      waiting.get(data.id)?.(data.tokens)
    })
    started.addEventListener('error', event => {
      event.preventDefault()
      // A stopped worker may still report its end.
      if (worker !== started) return
      failures += 1
      stop()
    })
    return started
  }

  const stop = () => {
    worker?.terminate()
    worker = undefined
    for (const answer of waiting.values()) answer(undefined)
  }

  /** Undefined when the worker does not answer. */
  const countExactly = async (texts: readonly string[], chars: number) => {
    worker ??= start()
    lastId += 1
    const id = lastId
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    waiting.set(id, resolve)
    waitingChars += chars
    // Stopping the worker is the only way to cancel what it has been sent.
    const timer = setTimeout(stop, ANSWER_WITHIN_MS)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
    worker.postMessage({ id, texts } satisfies CountRequest)
    const tokens = await promise
    clearTimeout(timer)
    waiting.delete(id)
    waitingChars -= chars
    return tokens
  }

  return {
    async countTokens(texts) {
      const { start: sample, chars, isAll } = startOf(texts)
      if (chars === 0) return 0
      if (failures >= WORKER_FAILURES_MAX || waitingChars + chars > WAITING_CHARS_MAX)
        return roughCount(texts)
      const tokens = await countExactly(sample, chars)
      if (tokens === undefined) return roughCount(texts)
      return isAll ? tokens : Math.ceil((tokens * roughCount(texts)) / roughCount(sample))
    },
    close() {
      failures = WORKER_FAILURES_MAX
      stop()
    },
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
