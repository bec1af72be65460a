import type { NanoUsd } from '../money.ts'
import type { Movement } from './post.ts'

/** The state of a call to an upstream whose answer did not reach the client. */
export type AttemptState =
  /** The client got the answer of another upstream. The operator pays for the usage of this one. */
  | 'abandoned'
  /** The client got a 504. The upstream may still finish and bill. */
  | 'timed_out'
  /** It ended without anything to bill. */
  | 'closed'
  /** It finished with a usage after the client got a 504. */
  | 'billed'
  /** The usage was charged, and the charge was credited back. */
  | 'compensated'

/**
 * Charges an attempt and credits the same amount back from `losses`: two operations that together do not change the
 * account's balance.
 */
export function compensating(cost: NanoUsd): {
  readonly charge: readonly Movement[]
  readonly compensation: readonly Movement[]
} {
  if (cost < 0n) throw new RangeError(`A cost of ${cost} is negative.`)
  return {
    charge: [{ from: 'available', to: 'revenue.text', amount: cost }],
    compensation: [{ from: 'losses', to: 'available', amount: cost }],
  }
}
