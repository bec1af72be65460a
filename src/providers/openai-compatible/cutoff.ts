import type { Clock } from '../../gateway/ports/clock.ts'

/** Ends one exchange early: when its time is up, or when its caller aborts. */
export type Cutoff = {
  /** For fetch: fires at once when the exchange is to end. */
  readonly signal: AbortSignal
  /** Why the exchange was ended; undefined while it goes on, and for ever where it ended by itself. */
  cause(): 'timed_out' | 'aborted' | undefined
  /** Ends the exchange, for good. */
  cut(cause: 'timed_out' | 'aborted'): void
  /** Lets go of timer and signal. Call it when the exchange is over, however it ended. */
  lift(): void
}

/**
 * One controller and one timer for each exchange: together they cost about a microsecond. A pool of controllers and a
 * shared sweep of deadlines were measured and saved nothing worth their code.
 */
export function cutoff(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined): Cutoff {
  const controller = new AbortController()
  let cause: 'timed_out' | 'aborted' | undefined

  const cut = (why: 'timed_out' | 'aborted') => {
    if (cause !== undefined) return
    cause = why
    controller.abort()
  }
  const onAbort = () => cut('aborted')
  const cancelTimer = clock.after(timeoutMs, () => cut('timed_out'))
  caller?.addEventListener('abort', onAbort)

  return {
    signal: controller.signal,
    cause: () => cause,
    cut,
    lift() {
      cancelTimer()
      caller?.removeEventListener('abort', onAbort)
    },
  }
}
