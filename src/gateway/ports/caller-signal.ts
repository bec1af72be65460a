/**
 * Fires once, when the caller disconnects. It is the part of `AbortSignal` that the gateway uses, so every
 * `AbortSignal` is one. The runtime's own signals take microseconds to create and to watch, and almost none of them
 * ever fires.
 */
export interface CallerSignal {
  /** Whether it has fired. A listener that is added later is not called. */
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: AbortListener): void
  /** Removing a listener that was not added, or was called, changes nothing. */
  removeEventListener(type: 'abort', listener: AbortListener): void
}

export type AbortListener = (() => void) | { handleEvent(): void }
