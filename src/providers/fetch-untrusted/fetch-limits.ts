import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { FetchError } from './fetch-error.ts'

const MS = 1000

/**
 * Ends one fetch, with all its redirects, when its time is over or its caller gives it up. Call `stop` when the fetch
 * has ended.
 */
export class FetchLimits {
  readonly #controller = new AbortController()
  readonly #clear: () => void
  readonly #caller: CallerSignal | undefined
  readonly #onAbort = () => this.#end(new FetchError('aborted'))
  #failure: FetchError | undefined

  constructor(
    clock: Clock,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: CallerSignal },
  ) {
    this.#clear = clock.after(timeoutMs, () => {
      this.#end(new FetchError(`it took more than ${timeoutMs / MS} s`))
    })
    this.#caller = signal
    signal?.addEventListener('abort', this.#onAbort)
    if (signal?.aborted === true) this.#onAbort()
  }

  /** Why the fetch was ended; undefined while it may continue. */
  get failure(): FetchError | undefined {
    return this.#failure
  }

  /** Fires when the fetch is ended. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The result of work that cannot be aborted itself. Rejects as soon as the fetch is ended. */
  async race<Result>(work: Promise<Result>): Promise<Result> {
    const ended = Promise.withResolvers<never>()
    const onEnd = () => ended.reject(this.#failure)
    if (this.#failure !== undefined) onEnd()
    this.signal.addEventListener('abort', onEnd)
    try {
      return await Promise.race([work, ended.promise])
    } finally {
      this.signal.removeEventListener('abort', onEnd)
    }
  }

  stop(): void {
    this.#clear()
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }

  #end(failure: FetchError): void {
    if (this.#failure !== undefined) return
    this.#failure = failure
    this.stop()
    this.#controller.abort()
  }
}
