import type { NanoUsd } from '../../../domain/money.ts'

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
  /** The work for media jobs. */
  readonly jobs: JobsPass
  /** The attempts that could not be settled. The next pass tries them again. */
  readonly failed: number
}

export type JobsPass = {
  /** Jobs whose process ended during their submission. */
  readonly lost: number
  readonly polled: number
  /** Polled jobs that had ended. */
  readonly ended: number
  /** Unknown submissions that their provider has. */
  readonly recovered: number
  /** Jobs whose deadline was over. */
  readonly released: number
  /** Jobs that the provider finished after their money was released. */
  readonly lateCompletions: number
  readonly archived: number
  readonly removedFiles: number
  /** Jobs whose work failed inside the gateway. The next pass tries them again. */
  readonly failed: number
}

export const NO_JOBS: JobsPass = {
  lost: 0,
  polled: 0,
  ended: 0,
  recovered: 0,
  released: 0,
  lateCompletions: 0,
  archived: 0,
  removedFiles: 0,
  failed: 0,
}
