import { GatewayError } from '../errors.ts'
import { formatUsd, nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
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
      `The account has ${formatUsd(free)} USD available. A larger debit needs "allow_negative".`,
    )
  if (amount - free > OVERDRAWN_MAX)
    throw new GatewayError(
      'invalid_field',
      `With this debit the balance would be below -${formatUsd(OVERDRAWN_MAX)} USD, the minimum.`,
      { param: 'amount_usd' },
    )
  return [{ from: 'available', to: 'cash', amount }]
}

/** A charge with the sum of its refunds. */
export type Refundable = { readonly kind: HoldKind; readonly cost: NanoUsd; readonly refunded: NanoUsd }

/**
 * Gives back a charge or a part of it. All refunds of a charge together are at most its cost.
 *
 * Throws `invalid_field` for more than the cost, for a charge of zero, and for a part without an idempotency key: a
 * repeat of it could not be told from a second refund. Throws `already_exists` for more than is left, and a RangeError
 * for an amount that is not above zero.
 */
export function refunding(
  { kind, cost, refunded }: Refundable,
  { amount, idempotencyKey }: { readonly amount: NanoUsd; readonly idempotencyKey?: string },
): readonly Movement[] {
  if (cost === ZERO)
    throw new GatewayError('invalid_field', 'The charge is 0 USD, so there is nothing to refund.')
  if (amount <= ZERO) throw new RangeError(`A refund of ${amount} is not above zero.`)
  if (amount > cost)
    throw new GatewayError(
      'invalid_field',
      `"amount_usd" must be at most ${formatUsd(cost)}, the cost of the charge.`,
      { param: 'amount_usd' },
    )
  if (amount < cost && idempotencyKey === undefined)
    throw new GatewayError(
      'invalid_field',
      'A refund of a part of a charge needs an "Idempotency-Key" header, so that a repeat gives back nothing.',
      { param: 'Idempotency-Key' },
    )
  const left = subtractUsd(cost, refunded)
  if (amount > left) throw alreadyRefunded({ cost, refunded, left })
  return [{ from: revenueBook[kind], to: 'available', amount }]
}

function alreadyRefunded(of: Record<'cost' | 'refunded' | 'left', NanoUsd>): GatewayError {
  const [cost, refunded, left] = [of.cost, of.refunded, of.left].map(formatUsd)
  const advice =
    of.left === ZERO ? 'Nothing is left to refund.' : `Set "amount_usd" to at most ${left}, which is left.`
  return new GatewayError(
    'already_exists',
    `${refunded} USD of this charge of ${cost} USD was given back before. ${advice}`,
    { extensions: { refundable_usd: formatUsd(of.left) } },
  )
}
