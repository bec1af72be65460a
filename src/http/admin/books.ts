import { formatId } from '../../domain/ids.ts'
import { formatUsd } from '../../domain/money.ts'
import { acceptLoss, acceptProblem, verifyBooks } from '../../gateway/admin/verify-books.ts'
import { creditAccount, creditSources } from '../../gateway/admin/credit-account.ts'
import type { Problem, StatementLine } from '../../gateway/ports/ledger.ts'
import type { JobsPass } from '../../gateway/ports/reconcile.ts'
import { movementId } from '../account/statement.ts'
import { accountOf } from './accounts.ts'
import { optionalTextField, readFields, type Fields, wrongField } from './body.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { pageOf, rowsBefore } from '../list-query.ts'
import { instant } from './instant.ts'
import { amountField, idempotencyKeyOf, NOTE_LENGTH_MAX, noteField } from './money-fields.ts'
import { readAdminPage } from './query.ts'

/** Credits an account. Repeating it with the same `Idempotency-Key` credits nothing. */
export async function postGrant(
  { request, params, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const account = await accountOf(params, ports)
  const fields = await readFields(request, ['amount_usd', 'note', 'source'])
  const amount = amountField(fields)
  const note = noteField(fields)
  const sourceText = optionalTextField(fields, 'source', 'text') ?? 'grant'
  const source = creditSources.find(word => word === sourceText)
  if (source === undefined) throw wrongField('source', `must be one of ${creditSources.join(', ')}`)

  const idempotencyKey = idempotencyKeyOf(request)
  const credit = await creditAccount({ account, amount, source, note, idempotencyKey, actor }, ports)
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

/**
 * Checks the ledger and the stored results. A ledger that does not balance is a result, not an error. The operator can
 * first accept a problem (`accept`, its id, and `reason`), or the loss of commits (`accept_loss`, the reason).
 */
export async function postVerification(
  { request, actor }: AdminCall,
  ports: AdminPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['accept', 'reason', 'accept_loss'])
  const loss = reasonIn(fields, 'accept_loss')
  const id = optionalTextField(fields, 'accept', 'the id of a problem')
  const reason = reasonIn(fields, 'reason')
  if ((id === undefined) !== (reason === undefined))
    throw wrongField(
      id === undefined ? 'accept' : 'reason',
      'is missing; "accept" and "reason" belong together',
    )
  if (loss !== undefined) await acceptLoss({ reason: loss, actor }, ports)
  if (id !== undefined && reason !== undefined) await acceptProblem({ id, reason, actor }, ports)
  const { problems, entries } = await verifyBooks(ports)
  return adminReply({
    ok: problems.every(({ isAccepted }) => isAccepted),
    entries,
    problems: problems.map(problemBody),
  })
}

function problemBody({ id, accountId, entryId, message, isAccepted, stopsNothing }: Problem): object {
  const stopped = accountId === null ? 'everything' : 'account'
  return {
    id,
    concerns: stopsNothing === true ? 'nothing' : stopped,
    entry_id: entryId,
    message,
    accepted: isAccepted,
  }
}

/** Runs the reconciler once. */
export async function postReconciliation(_: AdminCall, { reconcile }: AdminPorts): Promise<BufferedReply> {
  const { hasRun, compensated, compensatedUsd, closed, expired, jobs, failed } = await reconcile()
  return adminReply({
    has_run: hasRun,
    compensated,
    compensated_usd: formatUsd(compensatedUsd),
    closed,
    expired,
    jobs: jobsPassBody(jobs),
    failed,
  })
}

function jobsPassBody(jobs: JobsPass): object {
  const { lost, polled, ended, recovered, released, lateCompletions, archived, removedFiles, failed } = jobs
  return {
    lost,
    polled,
    ended,
    recovered,
    released,
    late_completions: lateCompletions,
    archived,
    removed_files: removedFiles,
    failed,
  }
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

/** The operator's reason for a decision, for the audit log. */
function reasonIn(fields: Fields, name: string): string | undefined {
  const reason = optionalTextField(fields, name, 'the reason, as text')?.trim()
  if (reason === '' || (reason?.length ?? 0) > NOTE_LENGTH_MAX)
    throw wrongField(name, `must be the reason, with 1 to ${NOTE_LENGTH_MAX} characters`)
  return reason
}

function statementBody(line: StatementLine): object {
  const { kind, amount, ref, note, atMs } = line
  return { id: movementId(line), kind, amount_usd: formatUsd(amount), ref, note, at: instant(atMs) }
}
