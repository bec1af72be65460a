import type { NanoUsd } from '../../domain/money.ts'
import type { Attempts } from '../ports/ledger/attempts.ts'

/** Work that a provider bills and that no customer paid for. */
export type UnsoldWork = {
  readonly model: string
  readonly provider: string
  readonly providerCost: NanoUsd
}

/** The same port, which also reports each abandoned attempt that the provider bills, once it is recorded. */
export function observedAttempts(attempts: Attempts, onUnsold: (work: UnsoldWork) => void): Attempts {
  return {
    async record(attempt) {
      await attempts.record(attempt)
      if (attempt.state !== 'abandoned' || attempt.providerCost === null) return
      const { model, provider, providerCost } = attempt
      onUnsold({ model, provider, providerCost })
    },
    bill: (id, bill) => attempts.bill(id, bill),
    close: id => attempts.close(id),
    closeOlder: than => attempts.closeOlder(than),
    billed: limit => attempts.billed(limit),
  }
}
