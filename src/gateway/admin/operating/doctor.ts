import { countOn, type Catalog } from '../../../domain/catalog/catalog.ts'
import { doubtfulKeys } from '../../../domain/catalog/doubtful-keys.ts'
import { unpricedFeatures } from '../../../domain/catalog/unpriced-features.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import { instant } from '../../../domain/time.ts'
import type { AuditLog } from '../../ports/access/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { Mailer } from '../../ports/events/mail.ts'
import type { RequestRecords } from '../../ports/requests/request-records.ts'
import { publicId } from '../../media/job-id.ts'
import type { ResultStore } from '../../ports/media/blobs.ts'
import type { SharedCache } from '../../ports/requests/shared-cache.ts'
import type { DamagedResults } from '../../media/files/damaged-results.ts'
import type { IdleStreams } from '../../text/streams/idle-streams.ts'
import type { ProbeResult } from '../../ports/providers/providers.ts'
import type { Moderator } from '../../ports/providers/moderator.ts'
import type { RefusedFields } from '../../upstreams/refused-fields.ts'
import type { BooksState } from '../reports/overview.ts'
import { modelsBelowCost } from '../reports/sold-below-cost.ts'
import { clockProblem } from './clock-problem.ts'
import { ANSWERS_MAX, modelsWithoutCosts } from '../reports/unreported-costs.ts'

/** The result of one check. `detail` is a sentence for the operator, without secrets. */
type Check = {
  readonly name: string
  readonly ok: boolean
  /** True if the operator should read the detail, although nothing is wrong. */
  readonly isWarning?: true
  readonly detail: string
}

/**
 * Checks that a provider is reachable and accepts its key. It costs nothing, never rejects, and ends within seconds.
 */
export type ProbeProvider = (provider: Provider) => Promise<ProbeResult>

/** A catalog can have hundreds of providers. More probes at once would slow each other and time out. */
const PROBES_AT_ONCE = 8

/** Full checks run once a day. One of two may fail, such as in an outage. */
const FULL_CHECK_MS_MAX = 3 * 86_400_000

/** How many models or jobs a check names. */
const NAMES_SHOWN_MAX = 20

/** A text that no moderator should flag. */
const HARMLESS = 'Good morning.'

export type DoctorPorts = {
  readonly catalog: { current(): Catalog }
  readonly auditLog: AuditLog
  /** A sentence about the store, which will stop the gateway. */
  readonly storeProblem: () => Promise<string | undefined>
  /** A sentence about the store, which stops nothing. */
  readonly storeWarning: () => Promise<string | undefined>
  readonly ledger: Pick<Ledger, 'usage' | 'usageOfDay'>
  readonly clock: Clock
  /** How far the clock of this machine is ahead of `clock`. */
  readonly clockOffsetMs: () => number
  readonly isSandboxOn: boolean
  readonly booksState: () => Pick<BooksState, 'lastCheck'>
  readonly probeProvider: ProbeProvider
  readonly idleStreams: IdleStreams
  readonly damagedResults: Pick<DamagedResults, 'list'>
  readonly records: Pick<RequestRecords, 'counts' | 'problem'>
  readonly refusedFields: Pick<RefusedFields, 'of'>
  /** Undefined if results are on the disk. */
  readonly resultStore: ResultStore | undefined
  /** Undefined if answers are kept in memory only. */
  readonly sharedCache: Pick<SharedCache, 'name' | 'counts' | 'problem'> | undefined
  /** Undefined if moderation is off. */
  readonly moderator: Moderator | undefined
  /** Undefined if no mails are sent. */
  readonly mailer: Mailer | undefined
}

/**
 * Checks the store, the catalog, the moderator, the storage of results, the shared cache and every provider. Changes
 * nothing.
 */
export async function examine(ports: DoctorPorts): Promise<readonly Check[]> {
  const catalog = ports.catalog.current()
  return [
    await checkStore(ports),
    ...checkLastCheck(ports.booksState(), ports.clock.now()),
    ...checkClock(ports.clockOffsetMs()),
    checkCatalog(catalog, ports),
    ...checkKeys(catalog),
    ...checkPrices(catalog),
    ...checkIdleStreams(ports.idleStreams),
    ...(await checkCosts(catalog, ports.ledger)),
    ...(await checkMargins(catalog, ports)),
    ...checkDamagedResults(ports.damagedResults),
    ...(ports.resultStore === undefined ? [] : [await checkResultStore(ports.resultStore)]),
    ...(ports.sharedCache === undefined ? [] : [await checkSharedCache(ports.sharedCache)]),
    ...checkRecords(ports.records),
    ...(ports.moderator === undefined ? [] : [await checkModerator(ports.moderator)]),
    ...(ports.mailer === undefined ? [] : [await checkMail(ports.mailer)]),
    ...(await probeAll([...catalog.providers.values()], ports.probeProvider)),
    ...[...catalog.providers.values()].flatMap(provider => checkRefusals(provider, ports.refusedFields)),
  ]
}

/** A provider that refuses a field that the gateway wrote refuses every request of some clients. */
function checkRefusals(provider: Provider, refusedFields: Pick<RefusedFields, 'of'>): readonly Check[] {
  const fields = refusedFields.of(provider)
  if (fields.length === 0) return []
  const detail =
    `It refused a converted Messages request with an error that names ${fields.join(', ')}. ` +
    `If it does not know the field, write omit_fields: [${fields.join(', ')}] in its row.`
  return [{ name: `fields of ${provider.id}`, ok: false, detail }]
}

async function checkStore({
  auditLog,
  storeProblem,
  storeWarning,
}: Pick<DoctorPorts, 'auditLog' | 'storeProblem' | 'storeWarning'>): Promise<Check> {
  await auditLog.list({ limit: 1 })
  const problem = await storeProblem()
  if (problem !== undefined) return { name: 'store', ok: false, detail: problem }
  const warning = await storeWarning()
  if (warning !== undefined) return { name: 'store', ok: true, isWarning: true, detail: warning }
  return { name: 'store', ok: true, detail: 'The store can be read.' }
}

/** A change of an earlier row is only found by a full check, which the gateway tries every day. */
function checkLastCheck({ lastCheck }: Pick<BooksState, 'lastCheck'>, nowMs: number): readonly Check[] {
  if (lastCheck === undefined) return []
  const { atMs, fullAtMs } = lastCheck
  const last = `The last check of the books ended at ${instant(atMs)}.`
  if (atMs === fullAtMs) return [{ name: 'books', ok: true, detail: `${last} It read all rows.` }]
  const full =
    fullAtMs === undefined
      ? 'No check of all rows is known.'
      : `All rows were checked at ${instant(fullAtMs)}.`
  const detail = `${last} It read the rows since the check before. ${full}`
  const isOld = nowMs - (fullAtMs ?? 0) > FULL_CHECK_MS_MAX
  if (!isOld) return [{ name: 'books', ok: true, detail }]
  const advice = 'The log says why it could not run. Run "tollgate verify".'
  return [{ name: 'books', ok: true, isWarning: true, detail: `${detail} ${advice}` }]
}

/** A wrong clock stops nothing, so only this and a metric show it. */
function checkClock(offsetMs: number): readonly Check[] {
  const detail = clockProblem(offsetMs)
  return detail === undefined ? [] : [{ name: 'clock', ok: true, isWarning: true, detail }]
}

function checkCatalog(catalog: Catalog, sandbox: { readonly isSandboxOn: boolean }): Check {
  const count = countOn(catalog, sandbox)
  const rows = catalog.models.size + catalog.drafts.size
  const detail =
    count === 0
      ? 'No model is on, so every request is refused. Import a catalog or switch a model on.'
      : `${count} of ${rows} models are on (revision ${catalog.revision}).`
  return { name: 'catalog', ok: count > 0, detail }
}

/** Answers without the cost that they should be charged by are free, and nothing else fails. */
async function checkCosts(catalog: Catalog, ledger: Pick<Ledger, 'usage'>): Promise<readonly Check[]> {
  const models = await modelsWithoutCosts(catalog, ledger)
  if (models.length === 0) return []
  const detail =
    `The last ${ANSWERS_MAX} answers of these models had no cost of their provider, so they were free: ${listOf(models)}. ` +
    'Write the cost_field or the cost_header of the provider in its row, or give the models a tariff.'
  return [{ name: 'reported costs', ok: false, detail }]
}

/** Warns about models whose price does not cover what their provider bills. It may be intended. */
async function checkMargins(
  catalog: Catalog,
  ports: { readonly ledger: Pick<Ledger, 'usageOfDay'>; readonly clock: Clock },
): Promise<readonly Check[]> {
  const models = await modelsBelowCost(catalog, ports)
  if (models.length === 0) return []
  const detail =
    `These models were sold below their cost since yesterday: ${listOf(models)}. ` +
    'Raise the prices of their rows, or correct the cost of the upstream. tollgate margins shows the sums.'
  return [{ name: 'margins', ok: true, isWarning: true, detail }]
}

/** Warns about keys that are probably a mistake. A provider may have any key, so only its own refusal is certain. */
function checkKeys(catalog: Catalog): readonly Check[] {
  return doubtfulKeys(catalog).map(detail => ({ name: 'keys', ok: true, isWarning: true, detail }))
}

/** Warns about models whose provider bills more than their rows price or refuse. It may be intended. */
function checkPrices(catalog: Catalog): readonly Check[] {
  return unpricedFeatures(catalog).map(detail => ({ name: 'prices', ok: true, isWarning: true, detail }))
}

/** Names the models whose streams ended because of the idle limit, which may be too short for them. */
function checkIdleStreams(idleStreams: IdleStreams): readonly Check[] {
  const models = idleStreams.list()
  if (models.length === 0) return []
  const names = listOf(models.map(([model, streams]) => `${model} (${streams})`))
  const detail =
    `Streams of these models ended since the start because their provider was silent for too long: ${names}. ` +
    'If they reason for minutes, raise their stream_idle_timeout_s.'
  return [{ name: 'silent streams', ok: false, detail }]
}

function listOf(names: readonly string[]): string {
  const others = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''
  return `${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${others}`
}

/** Names the paid jobs whose files were damaged when their clients asked for them. */
function checkDamagedResults(damagedResults: Pick<DamagedResults, 'list'>): readonly Check[] {
  const found = damagedResults.list()
  if (found.length === 0) return []
  const jobs = listOf(found.map(({ job, damage }) => `${publicId(job)} (${damage})`))
  const detail =
    `The stored files of these paid jobs could not be served since the start: ${jobs}. ` +
    'Put them back from a backup, or refund each with tollgate refund ID. tollgate verify finds all of them.'
  return [{ name: 'stored results', ok: false, detail }]
}

async function checkResultStore(store: ResultStore): Promise<Check> {
  const { outcome, detail } = await store.check()
  return { name: 'results storage', ok: outcome === 'sound', detail }
}

/** Without it, identical requests to several gateways call the model several times, and nothing else shows it. */
async function checkSharedCache({
  name: server,
  counts: { rejected },
  problem,
}: Pick<SharedCache, 'name' | 'counts' | 'problem'>): Promise<Check> {
  const name = 'shared cache'
  const reason = await problem()
  if (reason !== undefined) {
    const detail =
      `${server} cannot be used, so answers are kept in memory only: ${reason} ` +
      'Check TOLLGATE_REDIS_URL and the server.'
    return { name, ok: false, detail }
  }
  if (rejected === 0) return { name, ok: true, detail: `${server} can be written and read.` }
  const detail =
    `${server} can be written and read, but had ${rejected} values since the start ` +
    'that no gateway with this secret key wrote for their place. ' +
    'They were not used. Check who else can write into it.'
  return { name, ok: true, isWarning: true, detail }
}

/** Lost records cost no money, and only this shows them. */
function checkRecords({
  counts: { dropped },
  problem,
}: Pick<RequestRecords, 'counts' | 'problem'>): readonly Check[] {
  const name = 'request records'
  if (problem !== undefined) {
    const detail =
      `Records of requests are being lost (${problem}); ${dropped} since the start. ` +
      'Requests and the books are not affected. Check the disk of the data folder, or the database.'
    return [{ name, ok: false, detail }]
  }
  if (dropped === 0) return []
  const detail = `${dropped} records of requests were lost since the start. They are written again.`
  return [{ name, ok: true, isWarning: true, detail }]
}

/** Without verdicts, requests continue unmoderated and nothing else shows it. */
async function checkModerator(moderator: Moderator): Promise<Check> {
  const name = 'moderation'
  const moderation = await moderator.judge([HARMLESS])
  switch (moderation.verdict) {
    case 'passed':
      return { name, ok: true, detail: 'The moderator answers.' }
    case 'flagged':
      return {
        name,
        ok: false,
        detail: 'The moderator flags a plain greeting, so it may flag every request.',
      }
    case 'unavailable': {
      const detail = `The moderator gives no verdict, so every request continues unmoderated (${moderation.problem}).`
      return { name, ok: false, detail }
    }
  }
}

/** Alerts that nobody gets are not missed. */
async function checkMail(mailer: Mailer): Promise<Check> {
  const problem = await mailer.problem()
  const detail =
    problem === undefined
      ? `The mail server ${mailer.server} accepts mails.`
      : `The mail server ${mailer.server} accepts no mails (${problem}). ` +
        'Check TOLLGATE_SMTP_URL. Mails are tried again for nearly a day.'
  return { name: 'mail', ok: problem === undefined, detail }
}

async function probeAll(providers: readonly Provider[], probe: ProbeProvider): Promise<readonly Check[]> {
  const checkProvider = async (provider: Provider): Promise<Check> => {
    const { ok, detail } = await probe(provider)
    return { name: `provider ${provider.id}`, ok, detail }
  }
  const checks: Check[] = []
  for (let at = 0; at < providers.length; at += PROBES_AT_ONCE) {
    checks.push(...(await Promise.all(providers.slice(at, at + PROBES_AT_ONCE).map(checkProvider))))
  }
  return checks
}
