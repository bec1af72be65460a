import type { Clock } from '../../ports/clock.ts'
import { LATE_BYTES_MAX, LATE_CALLS_MAX, LATE_MS } from '../late-answers.ts'

/** How long a stream may be read after its client has disconnected: as long as a call after its timeout. */
export const FINISH_WITHIN_MS = LATE_MS
/** How many bytes of a stream may be read after that. The longest answers, with log probabilities, are a quarter. */
export const FINISH_BYTES_MAX = 64 * 1024 * 1024
/** The limits of all such streams together: how many at once, and how many bytes their requests have. */
export const FINISHING_MAX = LATE_CALLS_MAX
export const FINISHING_BYTES_MAX = LATE_BYTES_MAX

/**
 * Streams whose client has disconnected, and whose provider bills an aborted call in full. They are read to their end,
 * so that the real usage or cost is charged. Each keeps its hold and counts as a running request.
 */
export class FinishingStreams {
  readonly #clock: Clock
  /** The functions that end the running ones. */
  readonly #running = new Set<() => void>()
  #bytes = 0
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of streams that are read. */
  get running(): number {
    return this.#running.size
  }

  /**
   * Adds a stream with the bytes of its request. `cut` is called when its time is over. Returns a function to call at
   * its end; undefined if there are too many, or after a stop. Then the stream must be ended at once.
   */
  begin(requestBytes: number, cut: () => void): (() => void) | undefined {
    const isTooMuch = this.#running.size >= FINISHING_MAX || this.#bytes + requestBytes > FINISHING_BYTES_MAX
    if (this.#isStopped || isTooMuch) return undefined
    const cancelTimer = this.#clock.after(FINISH_WITHIN_MS, cut)
    this.#running.add(cut)
    this.#bytes += requestBytes
    return () => {
      cancelTimer()
      this.#running.delete(cut)
      this.#bytes -= requestBytes
    }
  }

  /** Cuts every stream, and accepts no more. */
  stop(): void {
    this.#isStopped = true
    for (const cut of this.#running) cut()
  }
}
