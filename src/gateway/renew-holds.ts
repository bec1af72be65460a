import type { Clock } from './ports/clock.ts'
import type { Ledger } from './ports/ledger.ts'

/**
 * Renews the holds of this node `everyMs`. A renewal that fails is reported, and tried again. Returns a function that
 * stops it.
 */
export function renewHoldsRegularly(
  ports: {
    readonly ledger: Ledger
    readonly clock: Clock
    readonly onFailed: (error: unknown) => void
  },
  everyMs: number,
): () => void {
  const { ledger, clock, onFailed } = ports
  const renewLater = (): (() => void) =>
    clock.after(everyMs, () => {
      cancel = renewLater()
      ledger.renewHolds().catch(onFailed)
    })
  let cancel = renewLater()
  return () => cancel()
}
