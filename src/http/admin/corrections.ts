import type { Account } from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatId, parseId } from '../../domain/ids.ts'
import { formatUsd } from '../../domain/money.ts'
import { debitAccount, prefixOf, refundCharge } from '../../gateway/admin/correct-account.ts'
import type { Correction } from '../../gateway/ports/ledger.ts'
import type { UsageLine } from '../../gateway/ports/ledger-reports.ts'
import type { BufferedReply } from '../request-context.ts'
import { accountOf } from './accounts.ts'
import { flagField, readFields } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { absenceOf } from './found.ts'
import { instantOrNull } from './instant.ts'
import { amountField, idempotencyKeyOf, noteField, optionalAmountField } from './money-fields.ts'

/** Takes money from an account. Repeating it with the same `Idempotency-Key` takes nothing. */
export async function postDebit(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['amount_usd', 'allow_negative', 'note'])
  const debit = await debitAccount(
    {
      account,
      amount: amountField(fields),
      allowNegative: 'allow_negative' in fields && flagField(fields, 'allow_negative'),
      note: noteField(fields),
      idempotencyKey: idempotencyKeyOf(request),
      actor,
    },
    ports,
  )
  return adminReply(correctionBody(debit))
}

/** Gives back a charge. Repeating it with the same `Idempotency-Key` gives back nothing. */
export async function postRefund(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const charge = await chargeOf(params['charge'] ?? '', ports)
  const fields = await readFields(request, ['amount_usd', 'note'])
  const refund = await refundCharge(
    {
      charge,
      amount: optionalAmountField(fields),
      note: noteField(fields),
      idempotencyKey: idempotencyKeyOf(request),
      actor,
    },
    ports,
  )
  return adminReply(correctionBody(refund))
}

/** Refuses the keys of an account from the next request on. Repeating it changes nothing. */
export async function postSuspension(
  { params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const by = { actor, atMs: ports.clock.now() }
  return adminReply(suspensionBody(await ports.accounts.updateAccount(publicId, { suspended: true }, by)))
}

/** Accepts the keys of an account again. Repeating it changes nothing. */
export async function postResumption(
  { params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const by = { actor, atMs: ports.clock.now() }
  return adminReply(suspensionBody(await ports.accounts.updateAccount(publicId, { suspended: false }, by)))
}

/** A charge by the id that its customer knows: of a text request, or of an image or video job. */
async function chargeOf(text: string, { ledger }: AdminPorts): Promise<UsageLine> {
  for (const prefix of Object.values(prefixOf)) {
    const id = parseId(prefix, text)
    const charge = id && (await ledger.findCharge(id))
    if (charge !== undefined && prefixOf[charge.kind] === prefix) return charge
  }
  throw new GatewayError('not_found', absenceOf('charge', text))
}

function correctionBody({ id, amount, available, isRepeat }: Correction & { readonly isRepeat: boolean }) {
  return {
    id: formatId('op', id),
    amount_usd: formatUsd(amount),
    available_usd: formatUsd(available),
    is_repeat: isRepeat,
  }
}

function suspensionBody({ publicId, name, suspendedAtMs }: Account) {
  return {
    id: publicId,
    name,
    suspended_at: suspendedAtMs === null ? null : instantOrNull(suspendedAtMs),
  }
}
