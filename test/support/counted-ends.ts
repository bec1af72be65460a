import type { Ledger } from '../../src/gateway/ports/ledger/ledger.ts'

/** A ledger that notes in `steps` each call that ends a hold. On a database, each is a round trip. */
export function countedEnds(ledger: Ledger, steps: string[]): Ledger {
  return {
    ...ledger,
    captureHold(hold, charge) {
      steps.push('capture')
      return ledger.captureHold(hold, charge)
    },
    releaseHold(hold, atMs) {
      steps.push('release')
      return ledger.releaseHold(hold, atMs)
    },
  }
}
