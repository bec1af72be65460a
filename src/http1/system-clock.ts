/** The clock of the system, for servers and clients that are not given another one. */
export const systemClock = {
  /** Milliseconds since 1970. */
  now: (): number => Date.now(),
  /** Milliseconds from an arbitrary start. It never goes back. */
  monotonicMs: (): number => performance.now(),
  after(delayMs: number, then: () => void): () => void {
    const timer = setTimeout(then, delayMs)
    return () => clearTimeout(timer)
  },
}
