import type { Id } from '../../../domain/ids.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { Usage } from '../../../domain/pricing/usage.ts'
import type { UsageLine } from './ledger-reports.ts'

/** Finds in the books what is under one id, so that a request can be explained. */
export interface BookedItems {
  /**
   * What the books have under an id: of a request, its hold or its charge, of a job, or of a credit or a correction.
   * The id of a refund finds the request of its charge, and the id of a request that made a job finds the job.
   * Undefined for an id that the books do not have, such as that of a refused request.
   */
  find(id: Id): Promise<BookedItem | undefined>
}

export type BookedItem = BookedRequest | BookedMovement

/** A request or a job. */
export type BookedRequest = {
  readonly kind: 'request'
  /** The id of its charge, hold and attempts: that of its job, if it made one. */
  readonly id: Id
  readonly accountId: number
  /** Its job, if it made one. */
  readonly job: Id | undefined
  readonly charge: BookedCharge | undefined
  /** The hold, if the books keep it. Those of text are only in memory. */
  readonly hold: BookedHold | undefined
  /** The calls of upstreams whose answers did not reach the client. */
  readonly attempts: readonly BookedAttempt[]
}

/** A credit or a debit. */
export type BookedMovement = {
  readonly kind: 'top_up' | 'grant' | 'debit'
  readonly id: Id
  readonly accountId: number
  readonly amount: NanoUsd
  readonly note: string | null
  readonly atMs: number
}

export type BookedCharge = UsageLine & {
  /** The amount by which the cost exceeded its hold. */
  readonly shortfall: NanoUsd
  readonly refunds: readonly BookedRefund[]
}

export type BookedRefund = {
  readonly id: Id
  readonly amount: NanoUsd
  readonly note: string | null
  readonly atMs: number
}

export type BookedHold = {
  readonly kind: HoldKind
  readonly amount: NanoUsd
  readonly state: 'open' | 'captured' | 'released' | 'expired'
  readonly placedAtMs: number
  /** Null while it is open. */
  readonly endedAtMs: number | null
}

export type BookedAttempt = {
  readonly number: number
  readonly provider: string
  readonly state: AttemptState
  /** Null if the provider has not reported it. */
  readonly usage: Usage | null
  /** What was charged and given back, or will be. Null for an attempt that was not billed. */
  readonly cost: NanoUsd | null
  readonly providerCost: NanoUsd | null
  readonly atMs: number
}
