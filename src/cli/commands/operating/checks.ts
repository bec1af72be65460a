import type { SettingDescription } from '../../../config/config.ts'
import { LONG_TIMEOUT_MS, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

/** The problem or the loss that the operator accepts before a check. */
export type Acceptance = {
  /** The id of a problem. */
  readonly accept?: string
  /** Why it is accepted. */
  readonly reason?: string
  /** The reason for accepting that commits are lost. */
  readonly acceptLoss?: string
}

type VerifyProblem = {
  readonly id: string
  readonly concerns: 'everything' | 'account' | 'nothing'
  readonly entry_id: string | null
  readonly message: string
  readonly accepted: boolean
}

type VerifyReply = {
  readonly ok: boolean
  readonly entries: number
  readonly files_elsewhere: number
  readonly shared: boolean
  readonly problems: readonly VerifyProblem[]
}

function elsewhereSentence(files: number): string {
  return `Not checked: ${files} stored files of jobs that this gateway does not have. Run tollgate verify on the gateways that stored them, or share them in a bucket.`
}

const NOT_SHARED =
  'The other gateways do not know this result, because the database did not store it. Run tollgate verify again.'

/** The id of the problem that the books do not match their anchor. */
const ANCHOR_PROBLEM = 'anchor'

/** Checks the ledger and the stored results. If it does not balance, names the first wrong entry and exits with 1. */
export async function verify(ask: Ask, acceptance: Acceptance = {}): Promise<Outcome> {
  const { accept, reason, acceptLoss } = acceptance
  const json = { accept, reason, accept_loss: acceptLoss }
  const isEmpty = Object.values(json).every(value => value === undefined)
  const verification = await ask<VerifyReply>({
    method: 'POST',
    path: 'verify',
    timeoutMs: LONG_TIMEOUT_MS,
    ...(isEmpty ? {} : { json }),
  })
  const { ok, entries, problems, files_elsewhere: elsewhere, shared } = verification
  const lines = [
    ...problems.map(lineOf),
    ...(elsewhere === 0 ? [] : [elsewhereSentence(elsewhere)]),
    ...(shared ? [] : [NOT_SHARED]),
  ]
  if (ok) {
    const accepted = problems.length === 0 ? '' : ` Accepted problems: ${problems.length}.`
    const text = [`The books balance. ${entries} entries were checked.${accepted}`, ...lines].join('\n')
    return { value: verification, text }
  }
  const open = problems.filter(({ accepted }) => !accepted)
  const { heading, section } = summaryOf(open)
  const isStopped = open.some(({ concerns }) => concerns !== 'nothing')
  const effect = isStopped ? 'Paid requests are refused while a problem affects them. ' : ''
  return {
    value: verification,
    text: [heading, ...lines].join('\n'),
    note: `${effect}See "${section}" in docs/books.md.`,
    exitCode: 1,
  }
}

/** The first line for problems that are not accepted, and the section of docs/books.md about them. */
function summaryOf(problems: readonly VerifyProblem[]): {
  readonly heading: string
  readonly section: string
} {
  if (problems.every(({ id }) => id === ANCHOR_PROBLEM))
    return { heading: 'The books do not match their anchor.', section: 'If the database lost commits' }
  if (problems.every(({ concerns }) => concerns === 'nothing'))
    return {
      heading: 'The books balance. These problems stop no requests.',
      section: 'If a problem stops no requests',
    }
  const first = problems.find(({ entry_id }) => entry_id !== null)
  const place = first === undefined ? '' : ` The first wrong entry is ${first.entry_id}.`
  return { heading: `The books do not balance.${place}`, section: 'If verify finds a problem' }
}

function lineOf({ id, entry_id, message, accepted }: VerifyProblem): string {
  const entry = entry_id === null ? '' : `entry ${entry_id}: `
  return `${id}${accepted ? ' (accepted)' : ''}  ${entry}${message}`
}

/** Runs the reconciler once. Exits with 1 if something could not be settled. */
export async function reconcile(ask: Ask): Promise<Outcome> {
  const pass = await ask<{
    has_run: boolean
    compensated: number
    compensated_usd: string
    closed: number
    jobs: JobsPass
    expired: number
    failed: number
  }>({ method: 'POST', path: 'reconcile', timeoutMs: LONG_TIMEOUT_MS })
  if (!pass.has_run)
    return { value: pass, text: 'Another run of the reconciler is in progress. Nothing was done.' }
  const { compensated, compensated_usd, closed, expired, failed } = pass
  const lines = [
    `Late answers charged and given back: ${compensated} (${compensated_usd} USD).`,
    `Timed-out attempts closed, because their process ended: ${closed}.`,
    `Expired holds freed: ${expired}.`,
    ...jobsLines(pass.jobs),
  ]
  const unsettled = failed + pass.jobs.failed
  if (unsettled > 0)
    lines.push(`Not settled: ${unsettled}. See the log for the reasons. The next run tries again.`)
  return { value: pass, text: lines.join('\n'), exitCode: unsettled > 0 ? 1 : 0 }
}

/** The work of a run for image and video jobs. */
type JobsPass = {
  readonly lost: number
  readonly polled: number
  readonly ended: number
  readonly recovered: number
  readonly released: number
  readonly late_completions: number
  readonly archived: number
  readonly removed_files: number
  readonly failed: number
}

function jobsLines(jobs: JobsPass): readonly string[] {
  return [
    `Jobs whose submission was cut off by the end of its process: ${jobs.lost}.`,
    `Running jobs polled: ${jobs.polled}, of which ${jobs.ended} had ended.`,
    `Unknown submissions found at their provider: ${jobs.recovered}.`,
    `Jobs released at their deadline: ${jobs.released}.`,
    `Jobs finished after their release and booked as losses: ${jobs.late_completions}.`,
    `Results archived: ${jobs.archived}. Unused files removed: ${jobs.removed_files}.`,
  ]
}

/** Each of a few hundred providers may take five seconds, several at once. */
const DOCTOR_TIMEOUT_MS = 600_000

type SelfCheck = {
  readonly name: string
  readonly ok: boolean
  readonly is_warning?: true
  readonly detail: string
}

type ShownSetting = {
  readonly name: string
  readonly value: string | null
  readonly default: string | null
  readonly is_set: boolean
}

type DoctorReport = {
  readonly ok: boolean
  readonly checks: readonly SelfCheck[]
  readonly settings: readonly ShownSetting[]
}

/**
 * Prints the self-checks of the gateway. Exits with 1 if there is a problem. `url` is the address of the running
 * server; undefined if this command opened the data folder.
 */
export async function doctor(ask: Ask, url: string | undefined): Promise<Outcome> {
  const report = await ask<DoctorReport>({ method: 'GET', path: 'doctor', timeoutMs: DOCTOR_TIMEOUT_MS })
  const server =
    url === undefined ? 'No server is running on this data folder.' : `A server is running at ${url}.`
  return shownReport(report, { server, url })
}

/** The report before the first start: the settings, and a sentence about the store that is missing. */
export function doctorWithoutStore(missing: string, described: readonly SettingDescription[]): Outcome {
  const settings = described.map(({ name, value, default: standard, isSet }) => ({
    name,
    value,
    default: standard,
    is_set: isSet,
  }))
  const checks = [{ name: 'store', ok: true, is_warning: true, detail: missing }] as const
  return shownReport({ ok: true, checks, settings }, { server: 'There is no store yet.', url: undefined })
}

function shownReport(
  report: DoctorReport,
  { server, url }: { readonly server: string; readonly url: string | undefined },
): Outcome {
  const { ok, checks, settings } = report
  const stateOf = ({ ok: isOk, is_warning: isWarning }: SelfCheck) =>
    isWarning === true ? 'warning' : isOk ? 'ok' : 'FAILED'
  const checkRows = checks.map(check => [stateOf(check), check.name, check.detail])
  const settingRows = settings.map(({ name, value, is_set }) => [
    name,
    value ?? '–',
    is_set ? 'set' : 'default',
  ])
  const text = [
    server,
    '',
    table(['', 'CHECK', 'RESULT'], checkRows),
    '',
    table(['SETTING', 'VALUE', 'FROM'], settingRows),
  ].join('\n')
  return { value: { server: url ?? null, ...report }, text, exitCode: ok ? 0 : 1 }
}

/** A gateway that wrote nothing for so long was killed, or is cut off. */
const SILENT_MS = 120_000

/** Prints the gateways that share the books. */
export async function listNodes(ask: Ask): Promise<Outcome> {
  type Node = {
    readonly name: string
    readonly version: string
    readonly too_old: boolean
    readonly lane: number | null
    readonly epoch: number | null
    readonly last_seen_at: string
    readonly clock_offset_ms: number | null
    readonly text_holds: number | null
  }
  const nodes = await ask<{ readonly data: readonly Node[] }>({ method: 'GET', path: 'nodes' })
  // By the time of the database, which all of them have. One of them answers, so it was seen just now.
  const nowMs = Math.max(...nodes.data.map(node => Date.parse(node.last_seen_at)))
  const rows = nodes.data.map(node => [
    node.name,
    node.too_old ? `${node.version} (too old)` : node.version,
    node.lane === null ? '–' : `${node.lane}/${node.epoch}`,
    nowMs - Date.parse(node.last_seen_at) >= SILENT_MS ? `${node.last_seen_at} (silent)` : node.last_seen_at,
    node.clock_offset_ms === null ? '–' : `${node.clock_offset_ms} ms`,
    node.text_holds === null ? '–' : `${node.text_holds}`,
  ])
  return { value: nodes, text: table(['NAME', 'VERSION', 'LANE', 'LAST SEEN', 'CLOCK', 'TEXT HOLDS'], rows) }
}

export type AuditFilters = {
  readonly limit: string
  readonly cursor?: string
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly from?: string
  readonly to?: string
}

/** Prints one page of the audit log, newest first. */
export async function listAudit(ask: Ask, filters: AuditFilters): Promise<Outcome> {
  type Line = {
    readonly actor: string
    readonly action: string
    readonly subject: string
    readonly detail: string | null
    readonly at: string
  }
  const page = await ask<{ readonly data: readonly Line[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery('audit', filters),
  })
  const rows = page.data.map(({ at, actor, action, subject, detail }) => [
    at,
    actor,
    action,
    subject,
    detail ?? '',
  ])
  const head = ['AT', 'ACTOR', 'ACTION', 'SUBJECT', 'DETAIL']
  return {
    value: page,
    text: rows.length === 0 ? 'No changes.' : table(head, rows),
    ...(page.next === null ? {} : { note: `Older changes: --cursor ${page.next}` }),
  }
}
