/**
 * Fires once, when its caller has left. As much of an `AbortSignal` as the gateway uses, so that every one of those is one; the
 * runtime's own take microseconds to make and to watch, which is much for what nearly never fires.
 */
export interface CallerSignal {
  /** Whether it has fired. From then on no listener that is added hears anything. */
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: AbortListener): void
  /** Changes nothing where it was not added, or has heard. */
  removeEventListener(type: 'abort', listener: AbortListener): void
}

export type AbortListener = (() => void) | { handleEvent(): void }
