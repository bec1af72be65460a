import type { NanoUsd } from '../../domain/money.ts'

/** One pass over what was left open: a bounded batch of each sort. Rejects where the store cannot be read. */
export type Reconcile = () => Promise<ReconcilerPass>

export type ReconcilerPass = {
  /** False where another pass was under way, here or on another node; this one then did nothing. */
  readonly hasRun: boolean
  /** Late answers that were charged and given back, and their amount. */
  readonly compensated: number
  readonly compensatedUsd: NanoUsd
  /** Attempts of which nothing more can come. */
  readonly closed: number
  /** What could not be settled; the next pass tries again. */
  readonly failed: number
}
