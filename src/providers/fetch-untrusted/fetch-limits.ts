import type { Bytes } from '../../domain/bytes.ts'
import { MS_PER_S } from '../../domain/time.ts'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { FetchedBody } from '../../gateway/ports/providers/untrusted-fetch.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { failureReason } from '../http/failure-reason.ts'

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
      this.#end(new FetchError(`it took more than ${timeoutMs / MS_PER_S} s`))
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

/** Why a fetch failed. The message completes "download failed:" and has no host and no key. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** Whether a repeat would fail in the same way. */
  readonly isPermanent: boolean

  constructor(problem: string, { isPermanent = false }: { readonly isPermanent?: boolean } = {}) {
    super(problem)
    this.isPermanent = isPermanent
  }
}

/** The gateway does not fetch this URL. The message says which part of it is not allowed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/** An error of the network, with its code. */
export function networkError(what: string, error: unknown): FetchError {
  return error instanceof FetchError ? error : new FetchError(`${what}: ${failureReason(error)}`)
}

/** The body of a response, up to a limit. */
export class LimitedBody implements FetchedBody {
  readonly #response: HttpResponse
  readonly #bytesMax: number
  readonly #limits: FetchLimits
  #bytes = 0
  #isOver = false
  #failure: FetchError | undefined

  constructor(
    response: HttpResponse,
    { bytesMax, limits }: { readonly bytesMax: number; readonly limits: FetchLimits },
  ) {
    this.#response = response
    this.#bytesMax = bytesMax
    this.#limits = limits
  }

  get failure(): FetchedBody['failure'] {
    const failure = this.#failure
    return failure && { problem: failure.message, isPermanent: failure.isPermanent }
  }

  async read(): Promise<Bytes | undefined> {
    if (this.#isOver) return undefined
    try {
      const piece = await this.#response.read()
      this.#bytes += piece?.length ?? 0
      if (this.#bytes > this.#bytesMax) throw tooLarge(this.#bytesMax)
      if (piece !== undefined) return piece
      this.#end(undefined)
    } catch (error) {
      this.#end(this.#limits.failure ?? networkError('connection', error))
    }
    return undefined
  }

  cancel(): void {
    this.#end(new FetchError('cancelled'))
  }

  #end(failure: FetchError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#limits.stop()
    // Does nothing after the end.
    this.#response.cancel()
  }
}

export function tooLarge(bytesMax: number): FetchError {
  return new FetchError(`it has more than ${bytesMax} bytes`, { isPermanent: true })
}
