import { systemClock } from './system-clock.ts'

/** The clock that timers run on. */
export type TimerClock = {
  /** Milliseconds from an arbitrary start. It never goes back. */
  monotonicMs(): number
  /** Calls `then` once, `delayMs` from now, unless the returned function is called first. */
  after(delayMs: number, then: () => void): () => void
}

export type Timer = {
  /**
   * When it expires, on the monotonic clock; Infinity pauses it. It may be moved later at any time. After it was moved
   * earlier, or from Infinity, it must be started again.
   */
  expiresAtMs: number
  /** It has been stopped by then, and may be started again. */
  onExpired(nowMs: number): void
}

/**
 * Runs many timers on one timer of the clock. Hardly any timer of a call expires, and setting and clearing one of the
 * runtime's timers for each call, or for each piece of a stream, costs more than sending it.
 */
export class Timers {
  readonly #clock: TimerClock
  /** In the order in which they were started. */
  readonly #running = new Set<Timer>()
  #wakesAtMs = Infinity
  #cancelWakeUp: (() => void) | undefined

  constructor(clock: TimerClock = systemClock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.monotonicMs()
  }

  /** Starting a running timer again takes note of its new time. */
  start(timer: Timer): void {
    this.#running.add(timer)
    if (timer.expiresAtMs < this.#wakesAtMs) this.#wakeUpAt(timer.expiresAtMs)
  }

  /** Does nothing for a timer that is not running. */
  stop(timer: Timer): void {
    this.#running.delete(timer)
    if (this.#running.size === 0) this.#cancel()
  }

  #wakeUpAt(atMs: number): void {
    this.#cancel()
    this.#wakesAtMs = atMs
    this.#cancelWakeUp = this.#clock.after(atMs - this.now(), () => this.#onWakeUp())
  }

  #cancel(): void {
    this.#cancelWakeUp?.()
    this.#cancelWakeUp = undefined
    this.#wakesAtMs = Infinity
  }

  /** Timers that expire at the same time do so in the order in which they were started. */
  #onWakeUp(): void {
    this.#cancel()
    const nowMs = this.now()
    const expired = [...this.#running].filter(({ expiresAtMs }) => expiresAtMs <= nowMs)
    for (const timer of expired.toSorted((left, right) => left.expiresAtMs - right.expiresAtMs)) {
      // An earlier one may have stopped it.
      if (this.#running.delete(timer)) timer.onExpired(nowMs)
    }
    let nextMs = Infinity
    for (const { expiresAtMs } of this.#running) nextMs = Math.min(nextMs, expiresAtMs)
    if (nextMs < this.#wakesAtMs) this.#wakeUpAt(nextMs)
  }
}
