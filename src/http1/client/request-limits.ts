import type { Timer, Timers } from '../timers.ts'
import type { AbortListener, AbortSignalLike } from './http-client.ts'
import { clientError, type ClientError } from './client-error.ts'

/** Ends one request when its time is over, or when its caller aborts it. */
export class RequestLimits implements Timer, AbortListener {
  expiresAtMs = Infinity
  readonly #timers: Timers
  readonly #signal: AbortSignalLike | undefined
  readonly #request: LimitedRequest

  constructor(timers: Timers, signal: AbortSignalLike | undefined, request: LimitedRequest) {
    this.#timers = timers
    this.#signal = signal
    this.#request = request
  }

  /** Throws if the signal has already fired. */
  start(timeoutMs: number | undefined): void {
    if (this.#signal?.aborted === true) throw clientError('ABORT_ERR')
    this.#signal?.addEventListener('abort', this)
    if (timeoutMs === undefined) return
    this.expiresAtMs = this.#timers.now() + timeoutMs
    this.#timers.start(this)
  }

  /** Call it when the request is over, however it ended. */
  stop(): void {
    this.#timers.stop(this)
    this.#signal?.removeEventListener('abort', this)
  }

  /** The caller aborts the request. */
  handleEvent(): void {
    this.#request.cut(clientError('ABORT_ERR'))
  }

  onExpired(): void {
    this.#request.cut(clientError('RESPONSE_TIMEOUT'))
  }
}

/** A request that can be ended early. */
export type LimitedRequest = { cut(failure: ClientError): void }
