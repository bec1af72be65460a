import type { Account } from '../../../domain/accounts/account.ts'
import type { GrantAllowance } from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import { formatUsd, usd, type NanoUsd } from '../../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Credit, Ledger } from '../../ports/ledger/ledger.ts'
import { auditOf, type Actor } from '../operator.ts'

/** A top-up is money that the customer paid. A grant is given by the operator. */
export const creditSources = ['grant', 'top_up'] as const
export type CreditSource = (typeof creditSources)[number]

/** Far above any real credit, and far below the largest sum that the books can hold. */
export const CREDIT_MAX = usd('1000000000')
const bookOf = { grant: 'promotions', top_up: 'cash' } as const

/**
 * Credits an account. Repeating it with the same `idempotencyKey` returns the first credit, with `isRepeat`; with
 * another amount or source it throws `idempotency_key_reuse`. Throws `invalid_field` if the amount is not above zero,
 * and `grants_per_day_exceeded` for more than an `allowance` has left.
 */
export async function creditAccount(
  request: {
    readonly account: Account
    readonly amount: NanoUsd
    readonly source: CreditSource
    readonly note?: string | undefined
    readonly idempotencyKey?: string | undefined
    readonly actor: Actor
    readonly allowance?: GrantAllowance | undefined
  },
  ports: { readonly ledger: Ledger; readonly newId: () => Id; readonly clock: Clock },
): Promise<Credit & { readonly isRepeat: boolean }> {
  const { account, amount, source, note, idempotencyKey, actor, allowance } = request
  if (amount <= 0n || amount > CREDIT_MAX) {
    throw new GatewayError(
      'invalid_field',
      `"amount_usd" must be above 0 and at most ${formatUsd(CREDIT_MAX)}.`,
      { param: 'amount_usd' },
    )
  }
  const id = ports.newId()
  const detail = `${formatUsd(amount)} USD by ${formatId('op', id)}`
  const credit = await ports.ledger.credit({
    id,
    accountId: account.id,
    amount,
    source: bookOf[source],
    ...(note === undefined ? {} : { note }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(allowance === undefined ? {} : { allowance }),
    audit: auditOf({ actor, action: `account.${source}`, subject: account.publicId, detail }, ports.clock),
  })
  // The first credit of a repeated key has the id of its own call.
  return { ...credit, isRepeat: formatId('op', credit.id) !== formatId('op', id) }
}
