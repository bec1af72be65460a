import type { Clock } from '../gateway/ports/clock.ts'
import type { CountReply, CountRequest } from './worker.ts'

/** The most characters that wait for the worker: about 0.2 s of its work. */
export const WAITING_CHARS_MAX = 4_000_000
/** Far longer than the worker needs for the longest queue of ordinary text. Its start takes 0.3 s. */
export const ANSWER_WITHIN_MS = 5_000
/** After this many failures, the worker is not started again. */
const WORKER_FAILURES_MAX = 3

/** Counts tokens exactly in a worker, which starts with the first call. */
export class WorkerCounter {
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
