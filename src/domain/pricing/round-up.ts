import { nanoUsd, type NanoUsd } from '../money.ts'

/**
 * Divides a sum of money in a finer unit into nano-USD and rounds a fraction up: the account pays for it, never the
 * operator. `dividend` is not negative.
 */
export function divideRoundingUp(dividend: bigint, divisor: bigint): NanoUsd {
  return nanoUsd((dividend + divisor - 1n) / divisor)
}
