import { DisconnectSignal } from '../disconnect-signal.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'

/** Cancels the call for a stream if its first byte does not come in time, or if its client disconnects. */
export class FirstByteDeadline {
  readonly #signal = new DisconnectSignal()
  readonly #cancelTimer: () => void
  #isMissed = false

  constructor(limitMs: number, client: CallerSignal, clock: Clock) {
    this.#signal.follow(client)
    this.#cancelTimer = clock.after(limitMs, () => {
      this.#isMissed = true
      this.#signal.fire()
    })
  }

  /** The signal for the call. After `meet`, only the client fires it. */
  get signal(): CallerSignal {
    return this.#signal
  }

  /** True if the time was over before `meet` was called. */
  get isMissed(): boolean {
    return this.#isMissed
  }

  /** The first byte has come, or the call has ended. */
  meet(): void {
    this.#cancelTimer()
  }
}
