import { GatewayError } from '../../../domain/errors.ts'
import { formatId, parseId } from '../../../domain/ids.ts'
import { operationKinds } from '../../../domain/ledger/operation.ts'
import { formatUsd } from '../../../domain/money.ts'
import { instant } from '../../../domain/time.ts'
import { requireScope } from '../../../gateway/admin/tokens/admit-token.ts'
import { creditAccount, creditSources } from '../../../gateway/admin/accounts/credit-account.ts'
import { debitAccount, prefixOf, refundCharge } from '../../../gateway/admin/accounts/correct-account.ts'
import type { Correction } from '../../../gateway/ports/ledger/ledger.ts'
import type { StatementLine, UsageLine } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { movementId, readStatementPage } from '../../account/balance.ts'
import { attributionJson } from '../../account/usage.ts'
import { pageOf } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from './accounts.ts'
import { flagField, optionalTextField, readFields, wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { absenceOf } from '../found.ts'
import { amountField, idempotencyKeyOf, noteField, optionalAmountField } from '../money-fields.ts'

/**
 * Credits an account. Repeating it with the same `Idempotency-Key` credits nothing. A token with the scope `grants`
 * gives only grants, up to its amount a day.
 */
export async function postGrant(
  { request, params, actor, rights, allowance }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['amount_usd', 'note', 'source'])
  const amount = amountField(fields)
  const note = noteField(fields)
  const sourceText = optionalTextField(fields, 'source', 'text') ?? 'grant'
  const source = creditSources.find(word => word === sourceText)
  if (source === undefined) throw wrongField('source', `must be one of ${creditSources.join(', ')}`)
  // Money that a customer paid is not a gift of the token's holder.
  if (source !== 'grant') requireScope({ rights }, ['all'])

  const idempotencyKey = idempotencyKeyOf(request)
  const credit = await creditAccount(
    { account, amount, source, note, idempotencyKey, actor, allowance },
    ports,
  )
  return adminReply(movementBody(credit))
}

/** Takes money from an account. Repeating it with the same `Idempotency-Key` takes nothing. */
export async function postDebit(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
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
  return adminReply(movementBody(debit))
}

/** Gives back a charge. Repeating it with the same `Idempotency-Key` gives back nothing. */
export async function postRefund(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
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
  return adminReply(movementBody(refund))
}

/** One page of the money movements of an account, newest first; `?kind=`, `?from=` and `?to=` select lines. */
export async function getStatement(
  { query, params }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const { limit, ...page } = readStatementPage(query, operationKinds)
  const lines = await ports.ledger.statement(account.id, { ...page, limit: limit + 1 })
  return adminReply(pageOf(lines, limit, { cursorOf: line => line.cursor, rowOf: statementBody }))
}

/** A charge by the id that its customer knows: of a text request, or of an image or video job. */
async function chargeOf(text: string, { ledger }: AccountPorts): Promise<UsageLine> {
  for (const prefix of Object.values(prefixOf)) {
    const id = parseId(prefix, text)
    const charge = id && (await ledger.findCharge(id))
    if (charge !== undefined && prefixOf[charge.kind] === prefix) return charge
  }
  throw new GatewayError('not_found', absenceOf('charge', text))
}

function movementBody({ id, amount, available, isRepeat }: Correction & { readonly isRepeat: boolean }) {
  return {
    id: formatId('op', id),
    amount_usd: formatUsd(amount),
    available_usd: formatUsd(available),
    is_repeat: isRepeat,
  }
}

function statementBody(line: StatementLine): object {
  const { kind, amount, ref, note, atMs } = line
  return {
    id: movementId(line),
    kind,
    amount_usd: formatUsd(amount),
    ref,
    note,
    ...attributionJson(line),
    at: instant(atMs),
  }
}
