import type { NanoUsd } from '../../domain/money.ts'

/** Settles a bounded batch of each kind of unfinished work. Rejects if the store cannot be read. */
export type Reconcile = () => Promise<ReconcilerPass>

export type ReconcilerPass = {
  /** False if another pass was running, on this node or on another. Then this pass did nothing. */
  readonly hasRun: boolean
  /** The late answers that were charged and refunded, and their total amount. */
  readonly compensated: number
  readonly compensatedUsd: NanoUsd
  /** The attempts that were closed without a charge. */
  readonly closed: number
  /** The holds that were freed because their owner no longer renewed them. */
  readonly expired: number
  /** The attempts that could not be settled. The next pass tries them again. */
  readonly failed: number
}
