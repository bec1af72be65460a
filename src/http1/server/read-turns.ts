/** About 2 ms of work for a handler that decodes and hashes what it reads. */
export const TURN_BYTES_MAX = 256 * 1024

/** A body whose reader waits for bytes that have arrived. */
export type WaitingBody = {
  /** Gives the reader what has arrived, and returns the number of bytes. */
  deliver(): number
}

/**
 * Bounds what the handlers of a server read of large bodies in one turn of the event loop. A socket delivers up to 512
 * KB at once, so hundreds of uploads would otherwise be worked on before the next small request is seen. Bodies that
 * must wait get their turn in the order of their waiting.
 */
export class ReadTurns {
  readonly #waiting = new Set<WaitingBody>()
  readonly #afterPoll: (then: () => void) => void
  #bytesLeft = TURN_BYTES_MAX
  #isScheduled = false

  /** `afterPoll` calls back once, after the event loop has polled the sockets. */
  constructor(afterPoll: (then: () => void) => void = setImmediate) {
    this.#afterPoll = afterPoll
  }

  /** Takes so many bytes from this turn. False if others were before, and the body must wait. */
  tryTake(bytes: number): boolean {
    if (this.#bytesLeft <= 0) return false
    this.#bytesLeft -= bytes
    this.#schedule()
    return true
  }

  /** Delivers this body in a later turn. */
  wait(body: WaitingBody): void {
    this.#waiting.add(body)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#afterPoll(this.#onTurn)
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false
    this.#bytesLeft = TURN_BYTES_MAX
    for (const body of this.#waiting) {
      if (this.#bytesLeft <= 0) break
      this.#waiting.delete(body)
      this.#bytesLeft -= body.deliver()
    }
    if (this.#bytesLeft < TURN_BYTES_MAX || this.#waiting.size > 0) this.#schedule()
  }
}
