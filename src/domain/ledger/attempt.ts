import type { NanoUsd } from '../money.ts'
import type { Movement } from './post.ts'

/** What becomes of a call to an upstream whose answer nobody was handed. */
export type AttemptState =
  /** Another upstream's answer was handed over. What this one used is the operator's. */
  | 'abandoned'
  /** Its client got a 504. The upstream may yet finish, and bill. */
  | 'timed_out'
  /** It came to nothing that could be billed. */
  | 'closed'
  /** It finished after all, with a usage. */
  | 'billed'
  /** That was charged, and made good. */
  | 'compensated'

/** What may follow what. Nothing leaves a final state. */
export const following = {
  abandoned: [],
  timed_out: ['closed', 'billed'],
  closed: [],
  billed: ['compensated'],
  compensated: [],
} as const satisfies Record<AttemptState, readonly AttemptState[]>

/**
 * Charges what an attempt used, and gives the same amount back out of `losses`: two operations, one after the other, that leave what
 * the account has as it was.
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
