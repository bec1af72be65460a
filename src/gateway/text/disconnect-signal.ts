import type { AbortListener, CallerSignal } from '../ports/caller-signal.ts'

/**
 * Fires when a request's client disconnects, when the last client that shares an answer does, or when a stop of the
 * gateway disconnects all.
 */
export class DisconnectSignal implements CallerSignal {
  aborted = false
  readonly #listeners: AbortListener[] = []

  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (!this.aborted) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    const place = this.#listeners.indexOf(listener)
    if (place >= 0) this.#listeners.splice(place, 1)
  }

  /** Fires when another signal does, until the returned function is called. */
  follow(other: CallerSignal): () => void {
    const onAbort = () => this.fire()
    if (other.aborted) this.fire()
    else other.addEventListener('abort', onAbort)
    return () => other.removeEventListener('abort', onAbort)
  }

  /** Firing again changes nothing. */
  fire(): void {
    this.aborted = true
    // One at a time, because a listener may remove another one.
    for (let listener = this.#listeners.shift(); listener !== undefined; listener = this.#listeners.shift()) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
  }
}
