import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { AbortListener, AbortSignalLike } from '../../http1/client/http-client.ts'
import type { Timer, Timers } from '../../http1/timers.ts'

/** Why a call was ended early. */
export type CutCause = 'timed_out' | 'aborted'

/**
 * Ends one call early: when a wait takes too long, or when its caller aborts. It is the abort signal of the call's HTTP
 * request.
 */
export class Cutoff implements AbortSignalLike, AbortListener, Timer {
  /** A stream starts and pauses this at every chunk, which moves no timer of the runtime. */
  expiresAtMs = Infinity
  readonly #timers: Timers
  #caller: CallerSignal | undefined
  #request: AbortListener | undefined
  #onTimeout: (() => void) | undefined
  #cause: CutCause | undefined
  #isSent = false

  constructor(timers: Timers, caller: CallerSignal | undefined) {
    this.#timers = timers
    this.#caller = caller
    caller?.addEventListener('abort', this)
  }

  /** Why the call was ended early. */
  get cause(): CutCause | undefined {
    return this.#cause
  }

  /** Whether the request has been sent, so that the upstream may be working on it. */
  get isSent(): boolean {
    return this.#isSent
  }

  onSent(): void {
    this.#isSent = true
  }

  get aborted(): boolean {
    return this.#cause !== undefined
  }

  addEventListener(_type: 'abort', request: AbortListener): void {
    this.#request = request
  }

  removeEventListener(): void {
    this.#request = undefined
  }

  /** The caller aborts. */
  handleEvent(): void {
    this.cut('aborted')
  }

  /** Ends the call in `limitMs`, unless it is paused, released or started again before. */
  start(limitMs: number): void {
    this.#onTimeout = undefined
    this.#expireIn(limitMs)
  }

  /** Calls `onTimeout` in `limitMs`, under the same conditions, instead of ending the call. */
  startWith(limitMs: number, onTimeout: () => void): void {
    this.#onTimeout = onTimeout
    this.#expireIn(limitMs)
  }

  /** Stops the time. */
  pause(): void {
    this.expiresAtMs = Infinity
  }

  /** Ends the call. Only the first cause counts. */
  cut(cause: CutCause): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    this.#request?.handleEvent()
  }

  /** From now on the caller does not end the call. */
  ignoreCaller(): void {
    this.#caller?.removeEventListener('abort', this)
    this.#caller = undefined
  }

  /**
   * Call it when the call is over, however it ended. It drops its references, because the runtime frees what was in a
   * changing Set or Map only with a full garbage collection.
   */
  release(): void {
    this.#timers.stop(this)
    this.ignoreCaller()
    this.#onTimeout = undefined
    this.#request = undefined
  }

  onExpired(): void {
    this.pause()
    if (this.#onTimeout === undefined) this.cut('timed_out')
    else this.#onTimeout()
  }

  #expireIn(limitMs: number): void {
    this.expiresAtMs = this.#timers.now() + limitMs
    this.#timers.start(this)
  }
}
