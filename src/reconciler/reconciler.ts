import type { Clock } from '../gateway/ports/clock.ts'
import type { Reconcile } from '../gateway/ports/reconcile.ts'

/**
 * Reconciles now, because the last process may have died with something open, and then every `everyMs`, one pass at a time. A pass
 * that fails is told, and the next one comes all the same. Returns how to stop it; that waits for the pass under way.
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
