import { GatewayError } from '../errors.ts'
import { formatUsd, nanoUsd, ZERO, type NanoUsd } from '../money.ts'
import { revenueBook, type HoldKind } from './books.ts'
import type { Movement } from './post.ts'

/** How far debits can take an account below zero. With `CREDITED_MAX`, no sum of its books overflows 64 bits. */
export const OVERDRAWN_MAX = nanoUsd(2n ** 61n)

/**
 * Takes money out of an account. `free` is the amount that the account can spend. Throws `insufficient_balance` for
 * more than that, unless the account may go below zero. Throws `invalid_field` if the balance would be below
 * -`OVERDRAWN_MAX`, and a RangeError for an amount that is not above zero.
 */
export function debiting(
  free: NanoUsd,
  { amount, allowNegative }: { readonly amount: NanoUsd; readonly allowNegative: boolean },
): readonly Movement[] {
  if (amount <= ZERO) throw new RangeError(`A debit of ${amount} is not above zero.`)
  if (amount > free && !allowNegative)
    throw new GatewayError(
      'insufficient_balance',
      `The account has ${formatUsd(free)} USD available. Take at most that, or allow a negative balance.`,
    )
  if (amount - free > OVERDRAWN_MAX)
    throw new GatewayError(
      'invalid_field',
      `With this debit the balance would be below -${formatUsd(OVERDRAWN_MAX)} USD, the minimum.`,
      { param: 'amount_usd' },
    )
  return [{ from: 'available', to: 'cash', amount }]
}

/**
 * Gives back a part of a charge of a kind, at most its cost. Throws `invalid_field` for more, and for a charge of zero;
 * a RangeError for an amount that is not above zero.
 */
export function refunding(
  charge: { readonly kind: HoldKind; readonly cost: NanoUsd },
  amount: NanoUsd,
): readonly Movement[] {
  if (charge.cost === ZERO)
    throw new GatewayError('invalid_field', 'The charge is 0 USD, so there is nothing to refund.')
  if (amount <= ZERO) throw new RangeError(`A refund of ${amount} is not above zero.`)
  if (amount > charge.cost)
    throw new GatewayError(
      'invalid_field',
      `"amount_usd" must be at most ${formatUsd(charge.cost)}, the cost of the charge.`,
      { param: 'amount_usd' },
    )
  return [{ from: revenueBook[charge.kind], to: 'available', amount }]
}
