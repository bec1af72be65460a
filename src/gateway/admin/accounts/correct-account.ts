import type { Account } from '../../../domain/accounts/account.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id, type IdPrefix } from '../../../domain/ids.ts'
import { formatUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Charge } from '../../ports/ledger/charge.ts'
import type { Correction, Ledger } from '../../ports/ledger/ledger.ts'
import type { UsageLine } from '../../ports/ledger/ledger-reports.ts'
import { auditOf, type Actor } from '../operator.ts'

type Ports = { readonly ledger: Ledger; readonly newId: () => Id; readonly clock: Clock }

type Details = {
  readonly note?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly actor: Actor
}

type Corrected = Correction & { readonly isRepeat: boolean }

/**
 * Takes money from an account. Repeating it with the same `idempotencyKey` returns the first debit, with `isRepeat`;
 * with another amount it throws `idempotency_key_reuse`. Throws `insufficient_balance` for more than the account can
 * spend, unless `allowNegative` is set, and `invalid_field` if the amount is not above zero.
 */
export async function debitAccount(
  request: Details & {
    readonly account: Account
    readonly amount: NanoUsd
    readonly allowNegative: boolean
  },
  { ledger, newId, clock }: Ports,
): Promise<Corrected> {
  const { account, amount, allowNegative, actor } = request
  requirePositive(amount)
  const id = newId()
  const detail = `${formatUsd(amount)} USD by ${formatId('op', id)}`
  const audit = auditOf({ actor, action: 'account.debit', subject: account.publicId, detail }, clock)
  const debit = await ledger.debit({
    id,
    accountId: account.id,
    amount,
    allowNegative,
    ...optionalOf(request),
    audit,
  })
  return { ...debit, isRepeat: !isSameId(debit.id, id) }
}

/**
 * Gives back a charge, or a part of it. A repeat works as in `debitAccount`. Throws `not_found` for text that is not an
 * id of a charge, `already_exists` for a charge that was given back before, and `invalid_field` for more than its cost.
 */
export async function refundCharge(
  request: Details & {
    /** `req_…`, `img_…` or `vid_…` */
    readonly charge: UsageLine
    /** Undefined for the whole cost. */
    readonly amount?: NanoUsd | undefined
  },
  { ledger, newId, clock }: Ports,
): Promise<Corrected> {
  const { charge, actor } = request
  const amount = request.amount ?? charge.cost
  if (charge.cost > ZERO) requirePositive(amount)
  const id = newId()
  const detail = `${formatUsd(amount)} USD by ${formatId('op', id)}`
  const subject = formatId(prefixOf[charge.kind], charge.id)
  const audit = auditOf({ actor, action: 'charge.refund', subject, detail }, clock)
  const refund = await ledger.refund({ id, charge: charge.id, amount, ...optionalOf(request), audit })
  return { ...refund, isRepeat: !isSameId(refund.id, id) }
}

/** The prefix of the id by which a customer knows a charge. */
export const prefixOf = {
  text: 'req',
  images: 'img',
  video: 'vid',
} as const satisfies Record<Charge['kind'], IdPrefix>

function optionalOf({ note, idempotencyKey }: Details) {
  return {
    ...(note === undefined ? {} : { note }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

function requirePositive(amount: NanoUsd): void {
  if (amount > ZERO) return
  throw new GatewayError('invalid_field', '"amount_usd" must be above 0.', { param: 'amount_usd' })
}

function isSameId(left: Id, right: Id): boolean {
  return left.key === right.key && left.tail === right.tail
}
