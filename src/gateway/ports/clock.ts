import type { CallerSignal } from './caller-signal.ts'

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

/** Waits `delayMs`, or until the signal fires. Resolves with true if the whole time has passed. */
export function pause(clock: Pick<Clock, 'after'>, delayMs: number, signal?: CallerSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false)
  return new Promise(resolve => {
    const onAbort = () => {
      cancel()
      resolve(false)
    }
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve(true)
    })
    signal?.addEventListener('abort', onAbort)
  })
}
