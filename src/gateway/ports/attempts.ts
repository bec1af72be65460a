import type { Id } from '../../domain/ids.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import type { Usage } from '../../domain/pricing/usage.ts'

/**
 * Calls to upstreams whose answer nobody was handed. Their states and what may follow what are in `domain/ledger/attempt.ts`;
 * `Ledger.compensate` makes the last step.
 */
export interface Attempts {
  /** Keeps an attempt; durable when it resolves. Repeating it changes nothing. */
  record(attempt: Attempt): Promise<void>

  /** One that timed out finished after all, and this is what it used. False, and nothing changed, for one in another state. */
  bill(id: AttemptId, bill: Bill): Promise<boolean>

  /** One that timed out came to nothing. False, and nothing changed, for one in another state. */
  close(id: AttemptId): Promise<boolean>

  /** As `close`, for at most `limit` that timed out before an instant, the oldest first. Gives how many it closed. */
  closeOlder(than: { readonly atMs: number; readonly limit: number }): Promise<number>

  /** At most `limit` of those that were billed and not compensated yet. */
  billed(limit: number): Promise<readonly AttemptId[]>
}

export type AttemptId = {
  readonly requestId: Id
  /** 1 for the request's first upstream. */
  readonly number: number
}

export type Attempt = AttemptId & {
  readonly accountId: number
  readonly apiKeyId: number
  readonly route: string
  readonly model: string
  readonly provider: string
  /** The prices the request was admitted with; null for free rows and the upstream's own cost. */
  readonly tariff: TextTariff | null
  /** When it was given up. */
  readonly atMs: number
} & ({ readonly state: 'abandoned'; readonly usage: Usage } | { readonly state: 'timed_out' })

export type Bill = {
  readonly usage: Usage
  /** What that costs at the prices the request was admitted with. */
  readonly cost: NanoUsd
  /** True where an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
}
