import type { Id } from '../../../domain/ids.ts'
import type { Attribution } from '../../../domain/ledger/attribution.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { TextTariff } from '../../../domain/pricing/tariff.ts'
import type { Usage } from '../../../domain/pricing/usage.ts'

/**
 * Calls to upstreams whose answer did not reach the client. Their states and transitions are in
 * `domain/ledger/attempt.ts`; `Ledger.compensate` makes the last transition.
 */
export interface Attempts {
  /** Records an attempt; durable when it resolves. Repeating it changes nothing. */
  record(attempt: Attempt): Promise<void>

  /**
   * Bills an attempt that timed out and then finished. Returns false, and changes nothing, for one in another state.
   */
  bill(id: AttemptId, bill: Bill): Promise<boolean>

  /**
   * Closes an attempt that timed out without a result. Returns false, and changes nothing, for one in another state.
   */
  close(id: AttemptId): Promise<boolean>

  /**
   * Closes at most `limit` attempts that timed out before an instant, oldest first. Returns the number of closed ones.
   */
  closeOlder(than: { readonly atMs: number; readonly limit: number }): Promise<number>

  /** At most `limit` attempts that are billed and not yet compensated. */
  billed(limit: number): Promise<readonly AttemptId[]>
}

export type AttemptId = {
  readonly requestId: Id
  /** 1 for the request's first upstream. */
  readonly number: number
}

export type Attempt = AttemptId &
  Attribution & {
    readonly accountId: number
    readonly apiKeyId: number
    readonly route: string
    readonly model: string
    readonly provider: string
    /** The prices the request was admitted with; null for free rows and the upstream's own cost. */
    readonly tariff: TextTariff | null
    /** When it was given up. */
    readonly atMs: number
  } & (
    | {
        readonly state: 'abandoned'
        /** Null if it was given up before the upstream reported its usage. */
        readonly usage: Usage | null
        /** What the attempt cost: as the provider reported it, or else at the prices of the row. Null if not known. */
        readonly providerCost: NanoUsd | null
      }
    | { readonly state: 'timed_out' }
  )

export type Bill = {
  readonly usage: Usage
  /** The cost of the usage at the prices the request was admitted with. */
  readonly cost: NanoUsd
  /** What the attempt cost: as the provider reported it, or else at the prices of the row. Null if not known. */
  readonly providerCost: NanoUsd | null
  /** True if an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
}
