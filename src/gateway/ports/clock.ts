/** Time, so that a test can drive it. */
export interface Clock {
  /**
   * The wall clock: milliseconds since 1970, for instants that are stored or shown. An operator or NTP may set it back
   * or forward.
   */
  now(): number
  /**
   * Milliseconds of a clock that never steps, from an arbitrary start: for waits, deadlines, cooldowns and TTLs in this
   * process. May have a fraction.
   */
  monotonicMs(): number
  /** Calls `then` once, `delayMs` of the monotonic clock from now, unless the returned function is called first. */
  after(delayMs: number, then: () => void): () => void
}
