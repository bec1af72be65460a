import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Clock } from '../../gateway/ports/clock.ts'

/** Waits `delayMs`, or until the signal fires. Resolves with true if the whole time has passed. */
export function pause(clock: Clock, delayMs: number, signal: CallerSignal | undefined): Promise<boolean> {
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
