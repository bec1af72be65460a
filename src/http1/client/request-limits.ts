import type { Timer, Timers } from '../timers.ts'
import type { AbortSignalLike } from './http-client.ts'
import { clientError, type ClientError } from './client-error.ts'

/** Ends one request when its time is over, or when its caller aborts it. */
export class RequestLimits implements Timer {
  expiresAtMs = Infinity
  readonly #timers: Timers
  readonly #signal: AbortSignalLike | undefined
  readonly #end: (failure: ClientError) => void
  readonly #onAbort = () => this.#end(clientError('ABORT_ERR'))

  constructor(timers: Timers, signal: AbortSignalLike | undefined, end: (failure: ClientError) => void) {
    this.#timers = timers
    this.#signal = signal
    this.#end = end
  }

  /** Throws where the signal has fired already. */
  start(timeoutMs: number | undefined): void {
    if (this.#signal?.aborted === true) throw clientError('ABORT_ERR')
    this.#signal?.addEventListener('abort', this.#onAbort)
    if (timeoutMs === undefined) return
    this.expiresAtMs = this.#timers.now() + timeoutMs
    this.#timers.start(this)
  }

  /** Call it when the request is over, however it ended. */
  stop(): void {
    this.#timers.stop(this)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }

  onExpired(): void {
    this.#end(clientError('RESPONSE_TIMEOUT'))
  }
}
