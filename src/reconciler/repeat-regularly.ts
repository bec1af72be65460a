import type { Clock } from '../gateway/ports/clock.ts'

/**
 * Does the work `everyMs`, whether or not the work before has ended. A failure is reported, and the work is done again
 * at its next time. Returns a function that stops it.
 */
export function repeatRegularly(
  work: () => Promise<unknown>,
  { clock, onFailed }: { readonly clock: Clock; readonly onFailed: (error: unknown) => void },
  everyMs: number,
): () => void {
  const repeatLater = (): (() => void) =>
    clock.after(everyMs, () => {
      cancel = repeatLater()
      work().catch(onFailed)
    })
  let cancel = repeatLater()
  return () => cancel()
}
