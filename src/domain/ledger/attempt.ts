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

/** The transitions between states. Only a call that timed out can still change what it costs. */
export const attemptTransitions = {
  abandoned: [],
  timed_out: ['closed', 'billed'],
  closed: [],
  billed: ['compensated'],
  compensated: [],
} as const satisfies Record<AttemptState, readonly AttemptState[]>

export function mayBecome(state: AttemptState, next: AttemptState): boolean {
  const transitions: readonly AttemptState[] = attemptTransitions[state]
  return transitions.includes(next)
}

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

/** Books a job's result that the provider bills and nobody pays for: the operator pays. */
export function losing(cost: NanoUsd): readonly Movement[] {
  if (cost < 0n) throw new RangeError(`A cost of ${cost} is negative.`)
  return [{ from: 'losses', to: 'revenue.media', amount: cost }]
}
