import { HOLD_TTL_MS } from '../../../domain/ledger/hold.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'

/**
 * A node as the owner of holds. The number is new at each start, so a node does not renew the holds of its former
 * process.
 */
export class HoldOwner {
  readonly number: bigint
  readonly #clock: Clock

  constructor(number: bigint, clock: Clock) {
    this.number = number
    this.#clock = clock
  }

  /** The wall clock, for holds that survive the process. All nodes of a file are in one process, so they share it. */
  nowMs(): number {
    return this.#clock.now()
  }

  /** The expiry, on the wall clock, of a hold that is placed or renewed now. */
  expiresAtMs(): number {
    return this.#clock.now() + HOLD_TTL_MS
  }

  /** The monotonic clock, for holds that end with the process: a step of the wall clock must not free them. */
  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  /** The expiry, on the monotonic clock, of a hold that is placed or renewed now. */
  expiresAtMonotonicMs(): number {
    return this.#clock.monotonicMs() + HOLD_TTL_MS
  }
}
