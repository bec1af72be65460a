import { GatewayError } from '../errors.ts'
import { formatUsd, nanoUsd, type NanoUsd } from '../money.ts'
import { givenIn, type Balances } from './books.ts'
import type { Movement } from './post.ts'

export type CreditSource = 'cash' | 'promotions'

/**
 * The maximum sum of all credits of an account: half of what 64 bits can represent, so that no sum of its books
 * overflows.
 */
export const CREDITED_MAX = nanoUsd(2n ** 62n)

/** Throws a RangeError for an amount that is not above zero, and `invalid_field` above `CREDITED_MAX`. */
export function crediting(
  balances: Balances,
  { amount, source }: { readonly amount: NanoUsd; readonly source: CreditSource },
): readonly Movement[] {
  if (amount <= 0n) throw new RangeError(`A credit of ${amount} is not above zero.`)
  if (givenIn(balances) + amount > CREDITED_MAX)
    throw new GatewayError(
      'invalid_field',
      `With this credit the sum of the account's credits would exceed ${formatUsd(CREDITED_MAX)} USD, the maximum.`,
      { param: 'amount_usd' },
    )
  return [{ from: source, to: 'available', amount }]
}
