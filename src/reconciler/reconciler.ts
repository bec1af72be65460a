import type { Clock } from '../gateway/ports/clock.ts'
import type { Reconcile } from '../gateway/ports/reconcile.ts'

/**
 * Reconciles now, because the last process may have died with open work, and then every `everyMs`, one pass at a time.
 * A failed pass is reported to `onFailed`, and the next one still runs. Returns a function that stops it and waits for
 * the running pass.
 */
export function startReconciler(
  reconcile: Reconcile,
  { clock, onFailed }: { readonly clock: Clock; readonly onFailed: (error: unknown) => void },
  everyMs: number,
): () => Promise<void> {
  let isStopped = false
  let cancel = () => {}
  const pass = async () => {
    try {
      await reconcile()
    } catch (error) {
      onFailed(error)
    }
    if (isStopped) return
    cancel = clock.after(everyMs, () => {
      running = pass()
    })
  }
  let running = pass()
  return async () => {
    isStopped = true
    cancel()
    await running
  }
}
