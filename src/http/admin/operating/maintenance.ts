import { formatUsd } from '../../../domain/money.ts'
import { instant } from '../../../domain/time.ts'
import { BACKUP_ACTION, backUpBooks } from '../../../gateway/admin/operating/back-up-books.ts'
import { examine } from '../../../gateway/admin/operating/doctor.ts'
import {
  acceptLoss,
  acceptProblem,
  type EndedCheck,
  type RunningCheck,
} from '../../../gateway/admin/operating/verify-books.ts'
import type { AuditFilter } from '../../../gateway/ports/access/audit.ts'
import type { CheckResult } from '../../../gateway/books/check-books.ts'
import { verifiedParts, type Problem } from '../../../gateway/ports/ledger/ledger.ts'
import type { JobsPass } from '../../../gateway/ports/ledger/reconcile.ts'
import { pageOf, readTimeRange, rowsBefore } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { optionalTextField, readFields, textField, wrongField, type Fields } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { OperatingPorts } from '../ports.ts'
import { NOTE_LENGTH_MAX } from '../money-fields.ts'
import { readAdminPage } from '../query.ts'

/** The self-checks of the gateway: settings, store, catalog, moderator and providers. */
export async function getDoctor(_: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const checks = await examine(ports)
  const settings = ports.describedSettings().map(({ name, value, default: standard, isSet }) => ({
    name,
    value,
    default: standard,
    is_set: isSet,
  }))
  const rows = checks.map(({ isWarning, ...check }) =>
    isWarning === undefined ? check : { ...check, is_warning: isWarning },
  )
  return adminReply({ ok: checks.every(({ ok }) => ok), checks: rows, settings })
}

/** The settings in effect, and where each comes from. Of a secret only whether it is set. */
export async function getSettings(_: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  return adminReply({
    data: ports.describedSettings().map(({ section, name, value, default: standard, meaning, isSet }) => ({
      section,
      name,
      value,
      default: standard,
      source: isSet ? 'environment' : 'default',
      meaning,
    })),
  })
}

/**
 * Checks the ledger and the stored results. A ledger that does not balance is a result, not an error. The operator can
 * first accept a problem (`accept`, its id, and `reason`), or the loss of commits (`accept_loss`, the reason).
 */
export async function postVerification(
  { request, actor }: AdminCall,
  ports: OperatingPorts,
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
  const isAfterDecision = loss !== undefined || id !== undefined
  return adminReply(verificationBody(await ports.operatorChecks.check({ isAfterDecision })))
}

/** How far the check is that `POST verify` started, and the last one of this gateway. */
export async function getVerification(
  _: AdminCall,
  { operatorChecks: { running, last } }: OperatingPorts,
): Promise<BufferedReply> {
  return adminReply({ running: running === undefined ? null : progressBody(running), last: lastBody(last) })
}

function progressBody({ startedAtMs, part }: RunningCheck): object {
  return {
    started_at: instant(startedAtMs),
    step: part ?? null,
    checked: part === undefined ? 0 : verifiedParts.indexOf(part),
    of: verifiedParts.length,
  }
}

function lastBody(last: EndedCheck | undefined): object | null {
  if (last === undefined) return null
  const { startedAtMs, endedAtMs } = last
  return { started_at: instant(startedAtMs), ended_at: instant(endedAtMs), ...verificationBody(last) }
}

function verificationBody({ problems, entries, filesElsewhere, unshared }: CheckResult): object {
  return {
    ok: problems.every(({ isAccepted }) => isAccepted),
    entries,
    files_elsewhere: filesElsewhere ?? 0,
    shared: unshared === undefined,
    problems: problems.map(problemBody),
  }
}

/** Runs the reconciler once. */
export async function postReconciliation(
  _: AdminCall,
  { reconcile }: OperatingPorts,
): Promise<BufferedReply> {
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

/** The gateways that share the books. */
export async function getNodes(_: AdminCall, { nodes }: OperatingPorts): Promise<BufferedReply> {
  const running = await nodes.list()
  return adminReply({
    data: running.map(({ name, version, isTooOld, lane, seenAtMs, clockOffsetMs, textHolds }) => ({
      name,
      version,
      too_old: isTooOld,
      lane: lane?.number ?? null,
      epoch: lane?.epoch ?? null,
      last_seen_at: instant(seenAtMs),
      clock_offset_ms: clockOffsetMs,
      text_holds: textHolds,
    })),
  })
}

/** Writes a backup to a file on the machine of the gateway. Replies when it is durable. */
export async function postBackup(
  { request, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['file'])
  const path = textField(fields, 'file', 'the path of a new file on the machine of the gateway')
  const { file, bytes, commits, blobs, blobFiles, resultsIn } = await backUpBooks(
    { file: path, actor },
    ports,
  )
  return adminReply({
    file,
    bytes,
    commits,
    job_files_folder: blobs,
    job_files: blobFiles,
    results_in: resultsIn ?? null,
  })
}

/**
 * One page of the backups that were made by this way, newest first, as the audit log has them, with the sizes that
 * their files have now on this machine.
 */
export async function listBackups(
  { query }: AdminCall,
  { backups, auditLog }: OperatingPorts,
): Promise<BufferedReply> {
  const asked = readAdminPage(query)
  const lines = await auditLog.list({ ...rowsBefore(asked), action: BACKUP_ACTION })
  const sizes = new Map(
    await Promise.all(lines.map(async ({ subject }) => [subject, await backups.sizeOf(subject)] as const)),
  )
  const page = pageOf(lines, asked.limit, {
    cursorOf: line => line.cursor,
    rowOf: ({ subject, atMs, actor, detail }) => ({
      file: subject,
      made_at: instant(atMs),
      made_by: actor,
      detail: detail ?? null,
      bytes: sizes.get(subject) ?? null,
    }),
  })
  return adminReply({ ...page, made_elsewhere: backups.elsewhere ?? null })
}

/** One page of the audit log, newest first. */
export async function listAudit(
  { query }: AdminCall,
  { auditLog, clock }: OperatingPorts,
): Promise<BufferedReply> {
  const asked = readAdminPage(query, ['actor', 'action', 'subject', 'from', 'to'])
  const lines = await auditLog.list({ ...rowsBefore(asked), ...auditFilterIn(query, clock.now()) })
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

function auditFilterIn(query: URLSearchParams, nowMs: number): AuditFilter {
  const texts = (['actor', 'action', 'subject'] as const).flatMap(name => {
    const text = query.get(name)
    if (text === null) return []
    if (text === '' || text.length > NOTE_LENGTH_MAX)
      throw wrongField(name, `must be a text of 1 to ${NOTE_LENGTH_MAX} characters`)
    return [[name, text] as const]
  })
  const between = readTimeRange(query, nowMs)
  return { ...Object.fromEntries(texts), ...(between !== undefined && { between }) }
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

/** The operator's reason for a decision, for the audit log. */
function reasonIn(fields: Fields, name: string): string | undefined {
  const reason = optionalTextField(fields, name, 'the reason, as text')?.trim()
  if (reason === '' || (reason?.length ?? 0) > NOTE_LENGTH_MAX)
    throw wrongField(name, `must be the reason, with 1 to ${NOTE_LENGTH_MAX} characters`)
  return reason
}
