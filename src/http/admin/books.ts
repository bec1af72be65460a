import { formatId } from '../../domain/ids.ts'
import { formatUsd } from '../../domain/money.ts'
import { requireScope } from '../../gateway/admin/admit-token.ts'
import { creditAccount, creditSources } from '../../gateway/admin/credit-account.ts'
import type { StatementLine } from '../../gateway/ports/ledger-reports.ts'
import { movementId } from '../account/balance.ts'
import { attributionJson } from '../account/usage.ts'
import { accountOf } from './accounts.ts'
import { optionalTextField, readFields, wrongField } from './body.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { pageOf, rowsBefore } from '../list-query.ts'
import { instant } from './instant.ts'
import { amountField, idempotencyKeyOf, noteField } from './money-fields.ts'
import { readAdminPage } from './query.ts'

/**
 * Credits an account. Repeating it with the same `Idempotency-Key` credits nothing. A token with the scope `grants`
 * gives only grants, up to its amount a day.
 */
export async function postGrant(
  { request, params, actor, rights, allowance }: AdminCall,
  ports: AdminPorts,
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
  return adminReply({
    id: formatId('op', credit.id),
    amount_usd: formatUsd(credit.amount),
    available_usd: formatUsd(credit.available),
    is_repeat: credit.isRepeat,
  })
}

/** One page of the money movements of an account, newest first. */
export async function getStatement({ query, params }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const asked = readAdminPage(query)
  const lines = await ports.ledger.statement(account.id, rowsBefore(asked))
  return adminReply(pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: statementBody }))
}

/** One page of the audit log, newest first. */
export async function listAudit({ query }: AdminCall, { auditLog }: AdminPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query)
  const lines = await auditLog.list(rowsBefore(asked))
  const page = pageOf(lines, asked.limit, {
    cursorOf: line => line.cursor,
    rowOf: ({ id, actor, action, subject, detail, atMs }) => ({
      id: String(id),
      actor,
      action,
      subject,
      detail: detail ?? null,
      at: instant(atMs),
    }),
  })
  return adminReply(page)
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
