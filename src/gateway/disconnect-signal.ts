import type { AbortListener, CallerSignal } from './ports/caller-signal.ts'

/** Fires when the client of a request leaves, or the last of those who share an answer. */
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

  /** Again, it changes nothing. */
  fire(): void {
    this.aborted = true
    // One by one, since who hears of it may have another one removed.
    for (let listener = this.#listeners.shift(); listener !== undefined; listener = this.#listeners.shift()) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
  }
}
