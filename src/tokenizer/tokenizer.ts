import type { Clock } from '../gateway/ports/clock.ts'
import type { Tokenizer } from '../gateway/ports/providers/tokenizer.ts'
import type { CountReply, CountRequest } from './worker.ts'

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

/** The most characters that wait for the worker: about 0.2 s of its work. */
export const WAITING_CHARS_MAX = 4_000_000
/** Far longer than the worker needs for the longest queue of ordinary text. Its start takes 0.3 s. */
export const ANSWER_WITHIN_MS = 5_000
/** After this many failures, the worker is not started again. */
const WORKER_FAILURES_MAX = 3

/** Counts tokens exactly in a worker, which starts with the first call. */
class WorkerCounter {
  readonly #url: URL
  readonly #clock: Pick<Clock, 'after'>
  readonly #waiting = new Map<number, (tokens: number | undefined) => void>()
  #waitingChars = 0
  #worker: Worker | undefined
  #failures = 0
  #lastId = 0

  constructor(url: URL, clock: Pick<Clock, 'after'>) {
    this.#url = url
    this.#clock = clock
  }

  /** Undefined when too much text is waiting, when the worker fails or does not answer in time, and after `close`. */
  async count(texts: readonly string[], chars: number): Promise<number | undefined> {
    if (this.#failures >= WORKER_FAILURES_MAX || this.#waitingChars + chars > WAITING_CHARS_MAX)
      return undefined
    this.#worker ??= this.#start()
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    this.#waiting.set(id, resolve)
    this.#waitingChars += chars
    // Work that was sent to the worker can only be cancelled by stopping the worker.
    const cancelTimer = this.#clock.after(ANSWER_WITHIN_MS, () => this.#stop())
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
    this.#worker.postMessage({ id, texts } satisfies CountRequest)
    const tokens = await promise
    cancelTimer()
    this.#waiting.delete(id)
    this.#waitingChars -= chars
    return tokens
  }

  /** Stops the worker. Waiting and later counts are undefined. */
  close(): void {
    this.#failures = WORKER_FAILURES_MAX
    this.#stop()
  }

  #start(): Worker {
    // The type is the browser's, which has no `unref`.
    const started = new Worker(this.#url.href, { smol: true }) as Worker & { unref(): void }
    started.unref()
    started.addEventListener('message', ({ data }: MessageEvent<CountReply>) => {
      this.#waiting.get(data.id)?.(data.tokens)
    })
    started.addEventListener('error', event => {
      event.preventDefault()
      // A stopped worker may still report its end.
      if (this.#worker !== started) return
      this.#failures += 1
      this.#stop()
    })
    return started
  }

  #stop(): void {
    this.#worker?.terminate()
    this.#worker = undefined
    for (const answer of this.#waiting.values()) answer(undefined)
  }
}

const ASCII_CHARS_PER_TOKEN = 4
const ASCII_END = 0x80

/** Estimates tokens without a vocabulary: a quarter of a token for an ASCII character, one token for any other. */
export function roughCount(texts: readonly string[]): number {
  let ascii = 0
  let others = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; at += 1) {
      if (text.charCodeAt(at) < ASCII_END) ascii += 1
      else others += 1
    }
  }
  return Math.ceil(ascii / ASCII_CHARS_PER_TOKEN) + others
}
