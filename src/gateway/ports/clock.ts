/** Time, so that a test can drive it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `then` once, `delayMs` from now, unless the returned function is called first. */
  after(delayMs: number, then: () => void): () => void
}
