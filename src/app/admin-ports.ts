import { createHash, randomBytes } from 'node:crypto'
import { describeConfig, secretFromEnvironment, type Config } from '../config/config.ts'
import { explainJob } from '../gateway/media/explain-job.ts'
import { providerOfJob } from '../gateway/media/work/provider-of-job.ts'
import type { Backups } from '../gateway/ports/backups.ts'
import type { Mailer } from '../gateway/ports/events/mail.ts'
import type { Moderator } from '../gateway/ports/providers/moderator.ts'
import type { ProviderAdapters } from '../gateway/ports/providers/providers.ts'
import type { RequestRecords } from '../gateway/ports/requests/request-records.ts'
import type { SharedCache } from '../gateway/ports/requests/shared-cache.ts'
import type { IdleStreams } from '../gateway/text/streams/idle-streams.ts'
import { OperatorChecks } from '../gateway/admin/operating/verify-books.ts'
import type { BooksState } from '../gateway/admin/reports/overview.ts'
import type { CircuitBreakers } from '../gateway/upstreams/upstream-health.ts'
import type { RefusedFields } from '../gateway/upstreams/refused-fields.ts'
import type { AdminPorts } from '../http/admin/ports.ts'
import { reconcileJobs } from '../reconciler/reconcile-jobs.ts'
import { reconcileOnce } from '../reconciler/reconciler.ts'
import type { MediaParts } from './parts/open-media.ts'
import type { Node } from './node/node.ts'
import { linkUrlOf } from './parts/open-console.ts'

const MS_PER_DAY = 86_400_000

/** What the routes of the admin API need: the store, the work on jobs, the environment, and the opened parts. */
export function adminPortsOf(parts: {
  readonly node: Node
  readonly backups: Backups
  readonly records: RequestRecords
  readonly media: MediaParts
  readonly sharedCache: SharedCache | undefined
  readonly config: Config
  readonly moderator: Moderator | undefined
  readonly mailer: Mailer | undefined
  readonly providers: ProviderAdapters
  readonly refusedFields: RefusedFields
  readonly idleStreams: IdleStreams
  readonly circuitBreakers: CircuitBreakers
  readonly onReconcileFailed: (error: unknown) => void
}): AdminPorts {
  const { records, providers, config } = parts
  const { ledger, anchor, guard, clock, sharedChecks } = parts.node
  return {
    ...storePortsOf(parts.node),
    ...jobPortsOf(parts),
    ...environmentPorts(),
    sharedCache: parts.sharedCache,
    backups: parts.backups,
    records,
    linkUrl: linkUrlOf(config),
    recordsKeptDays: records.isOn ? config.requestRecordsMs / MS_PER_DAY : undefined,
    isSandboxOn: config.isSandboxOn,
    webhooksMayBePrivate: config.mayWebhooksBePrivate,
    mailer: parts.mailer,
    alertEmails: config.alertEmails,
    moderator: parts.moderator,
    probeProvider: provider => providers[provider.kind].probe(provider),
    idleStreams: parts.idleStreams,
    circuitBreakers: parts.circuitBreakers,
    operatorChecks: new OperatorChecks({
      ledger,
      anchor,
      guard,
      clock,
      blobs: parts.media.blobs,
      sharedChecks,
    }),
    guard,
    sharedChecks,
    booksState: () => booksStateOf(parts.node),
    refusedFields: parts.refusedFields,
  }
}

/** Whether paid work is accepted, and what the last check of the books found. */
function booksStateOf({ guard, isWritable }: Node): BooksState {
  return {
    isWritable: isWritable(),
    stop: guard.stop,
    stoppedAccounts: guard.stoppedAccounts,
    lastCheck: guard.lastCheck,
  }
}

function storePortsOf(node: Node) {
  const { accounts, adminTokens, anchor, apiKeys, auditLog, bookedItems, catalog, clock, clockOffsetMs } =
    node
  const {
    keyDefaults,
    ledger,
    limits,
    mail,
    newId,
    nodes,
    projects,
    signInLinks,
    users,
    userSessions,
    webhooks,
  } = node
  return {
    accounts,
    adminTokens,
    anchor,
    apiKeys,
    auditLog,
    bookedItems,
    catalog,
    clock,
    clockOffsetMs,
    keyDefaults,
    ledger,
    limits,
    mail,
    newId,
    nodes,
    projects,
    signInLinks,
    storeProblem: node.problem,
    storeWarning: node.warning,
    users,
    userSessions,
    webhooks,
  } satisfies Partial<AdminPorts>
}

/** The jobs with their files, and the reconciler, which settles them. */
function jobPortsOf({
  node,
  media: mediaParts,
  config,
  onReconcileFailed: onFailed,
}: {
  readonly node: Node
  readonly media: MediaParts
  readonly config: Config
  readonly onReconcileFailed: (error: unknown) => void
}) {
  const { unknownSubmitTtlMs, imageRetentionMs: imageMs, videoRetentionMs: videoMs = null } = config
  const media = { ...mediaParts, places: new Map<string, string>() }
  const settings = { unknownSubmitTtlMs, retention: { imageMs, videoMs } }
  return {
    jobs: media.jobs,
    blobs: media.blobs,
    damagedResults: media.damagedResults,
    resultStore: media.resultStore,
    serves: media.serves,
    explainJob: job => {
      const keptMs = job.kind === 'image' ? imageMs : videoMs
      return explainJob(job, { provider: providerOfJob(job, media)?.adapter, keptMs })
    },
    reconcile: () =>
      reconcileOnce({
        ...node,
        onFailed,
        reconcileJobs: onFailed => reconcileJobs(media, settings, onFailed),
      }),
  } satisfies Partial<AdminPorts>
}

/** Randomness, hashes, and the environment as it is at the start. */
function environmentPorts() {
  const settings = describeConfig()
  return {
    randomBytes: count => randomBytes(count),
    sha256: text => createHash('sha256').update(text).digest(),
    isVariableSet: variable => secretFromEnvironment(variable) !== undefined,
    describedSettings: () => settings,
  } satisfies Partial<AdminPorts>
}
