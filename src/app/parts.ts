import type { Config } from '../config/config.ts'
import type { HoldKind } from '../domain/ledger/books.ts'
import { ZERO, type NanoUsd } from '../domain/money.ts'
import type { Alerts } from '../gateway/ports/events/alerts.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/nodes/leases.ts'
import type { Moderator } from '../gateway/ports/providers/moderator.ts'
import type { SharedCache } from '../gateway/ports/requests/shared-cache.ts'
import type { MediaProviders, ProviderAdapters } from '../gateway/ports/providers/providers.ts'
import type { Tokenizer } from '../gateway/ports/providers/tokenizer.ts'
import { DisconnectSignal } from '../gateway/text/disconnect-signal.ts'
import { FinishingStreams } from '../gateway/text/streams/finishing-streams.ts'
import { RecentPrompts } from '../gateway/text/recent-prompts.ts'
import type { TextPorts } from '../gateway/text/text-ports.ts'
import { IdleStreams } from '../gateway/text/streams/idle-streams.ts'
import { CircuitBreakers, RetryBudgets } from '../gateway/upstreams/upstream-health.ts'
import { LateAnswers, type BilledAnswer } from '../gateway/text/late-answers.ts'
import { observedAttempts } from '../gateway/upstreams/observe-unsold.ts'
import { RefusedFields } from '../gateway/upstreams/refused-fields.ts'
import type { AdminPorts } from '../http/admin/ports.ts'
import type { AdmitCallerPorts } from '../gateway/admission/admit-caller.ts'
import type { DeliveryTurns } from '../reconciler/delivery-turns.ts'
import { boundedWriter, errorFields, openLog, type Log } from '../telemetry/log.ts'
import { openEarlyMetrics, type EarlyMetrics } from '../telemetry/metrics.ts'
import type { MarginMetrics } from '../telemetry/margin-metrics.ts'
import { openTokenizer, type OpenTokenizer } from '../tokenizer/tokenizer.ts'
import { adminPortsOf } from './admin-ports.ts'
import { databaseBackups, openBackups } from './backup/open-backups.ts'
import type { DataFolder } from './data-folder.ts'
import { openMailer, openMailDeliveries, openWebhookDeliveries } from './parts/open-event-senders.ts'
import { openMedia, type MediaParts } from './parts/open-media.ts'
import type { Node } from './node/node.ts'
import { openNode } from './node/open-node.ts'
import { openRecords } from './parts/open-records.ts'
import { openProviders } from './parts/open-providers.ts'
import { openSharedCache } from './parts/open-shared-cache.ts'
import { secretOf } from './secret-of.ts'
import { systemClock } from './system-clock.ts'

/** The opened parts that every command of a data folder needs. */
export type Parts = {
  readonly log: Log
  /** See `Node.clock`. */
  readonly clock: Clock
  readonly clockOffsetMs: () => number
  readonly admin: AdminPorts
  readonly onReconcileFailed: (error: unknown) => void
  readonly caller: AdmitCallerPorts
  readonly text: Omit<TextPorts, 'holds'> & { readonly stopSignal: DisconnectSignal }
  readonly media: MediaParts
  /** Undefined if answers are kept in memory only. Only a server connects to it. */
  readonly sharedCache: SharedCache | undefined
  readonly books: Pick<Node, 'anchor' | 'guard' | 'sharedChecks' | 'anchorFailures'>
  readonly alerts: Alerts
  readonly leases: Leases
  /** Delivers the messages of webhooks. Only a server starts it. */
  readonly webhookDeliveries: DeliveryTurns
  /** Sends the mails about events. Only a server starts it. */
  readonly mailDeliveries: DeliveryTurns
  /** Begins to delete old records of requests. */
  readonly startRecords: () => void
  readonly heldNow: () => Promise<Readonly<Record<HoldKind, NanoUsd>>>
  /** Rejects if the store cannot be read or written. */
  readonly probeStore: () => Promise<void>
  /** See `Node.problem` and `Node.upkeep`. */
  readonly storeProblem: () => Promise<string | undefined>
  readonly upkeep: (() => Promise<void>) | undefined
  /** See `StoreNode.finishUpgrade`. */
  readonly finishUpgrade: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Log lines are buffered this long. A stop writes the buffer. */
const LOG_DELAY_MS = 20

/**
 * Opens the store and makes the parts around it. Throws `DataFolderInUseError` while another process has the folder.
 */
export async function openParts(
  config: Config,
  folder: DataFolder,
  {
    clock: ownClock = systemClock,
    earlyMetrics: { jobs: jobMetrics, margins } = openEarlyMetrics(),
    mediaProviders = {},
    tokenizer = openTokenizer(systemClock),
    isOffline = false,
  }: {
    readonly clock?: Clock
    readonly earlyMetrics?: EarlyMetrics
    readonly mediaProviders?: MediaProviders
    /** Closed with the parts. */
    readonly tokenizer?: OpenTokenizer
    /**
     * For a command without a server: standard output is the command's, so only errors are logged, to standard error.
     */
    readonly isOffline?: boolean
  } = {},
): Promise<Parts> {
  const log = openLogOf(config, ownClock, isOffline)
  const opened = openProviders({ config, clock: ownClock, mediaProviders })
  const onAnchorFailed = (error: unknown) => log.error('the anchor could not be kept', errorFields(error))
  const onStoreProblem = (problem: string) => log.error('the store has a problem', { problem })
  const nodeEvents = { onAnchorFailed, onStoreProblem }
  const nodeParts = { config, folder, clock: ownClock, http: opened.http, isOffline, ...nodeEvents }
  const node = await openNode(nodeParts).catch((error: unknown) => {
    opened.close()
    throw error
  })
  const { clock } = node
  const { providers, moderator, sockets } = opened
  const onReconcileFailed = (error: unknown) => log.error('the reconciler failed', errorFields(error))
  const shared = { node, ownClock, log, config }
  const media = await openMedia({ ...shared, ...opened, blobFolder: folder.blobs, secretOf, jobMetrics })
  const mailer = openMailer(config, clock)
  const seen = {
    refusedFields: new RefusedFields(),
    idleStreams: new IdleStreams(),
    circuitBreakers: new CircuitBreakers({ catalog: node.catalog, clock }),
  }
  const backups =
    config.database === undefined ? openBackups(folder, media.resultStore?.name) : databaseBackups
  const sharedCache = openSharedCache(config, folder, { clock, log })
  const recording = openRecords(config, folder, { clock, log })
  return {
    log,
    admin: adminPortsOf({
      node,
      backups,
      records: recording.records,
      media,
      sharedCache,
      config,
      moderator,
      mailer,
      providers,
      ...seen,
      onReconcileFailed,
    }),
    onReconcileFailed,
    caller: callerPortsOf(node),
    text: textPortsOf({ ...opened, node, log, ...seen, tokenizer, margins }),
    media,
    sharedCache,
    ...workOf(node),
    mailDeliveries: openMailDeliveries({ ...shared, mailer }),
    webhookDeliveries: openWebhookDeliveries({ ...shared, sockets }),
    startRecords: recording.start,
    close: () =>
      closeAll(
        [...(sharedCache === undefined ? [] : [sharedCache]), tokenizer, backups, recording, node, opened],
        log,
      ),
  }
}

/** What a server asks of its node beside requests. */
function workOf(node: Node) {
  return {
    clock: node.clock,
    clockOffsetMs: node.clockOffsetMs,
    books: node,
    alerts: node.alerts,
    leases: node.leases,
    heldNow: () => node.ledger.heldNow(),
    probeStore: node.probe,
    storeProblem: node.problem,
    upkeep: node.upkeep,
    finishUpgrade: () => node.finishUpgrade(),
  } satisfies Partial<Parts>
}

/** Closes the parts in this order. The store is after those that write to it, and the clients that it uses are last. */
async function closeAll(
  parts: readonly { readonly close: () => void | Promise<void> }[],
  log: Log,
): Promise<void> {
  for (const part of parts) await part.close()
  log.flush()
}

function openLogOf({ logLevel }: Config, clock: Clock, isOffline: boolean): Log {
  const stream = isOffline ? process.stderr : process.stdout
  return openLog({
    level: isOffline && logLevel !== 'silent' ? 'error' : logLevel,
    write: boundedWriter((text, done) => stream.write(text, done), clock),
    clock,
    defer: flush => setTimeout(flush, LOG_DELAY_MS),
  })
}

function callerPortsOf({ apiKeys, limits, clock }: Node): AdmitCallerPorts {
  return { apiKeys, limits, hashKey: key => Bun.SHA256.hash(key, 'base64'), clock }
}

function textPortsOf(parts: {
  readonly node: Node
  readonly log: Log
  readonly moderator: Moderator | undefined
  readonly providers: ProviderAdapters
  readonly refusedFields: RefusedFields
  readonly idleStreams: IdleStreams
  readonly circuitBreakers: CircuitBreakers
  readonly tokenizer: Tokenizer
  readonly margins: MarginMetrics
}): Parts['text'] {
  const { log, moderator, providers, refusedFields, idleStreams, tokenizer, margins, circuitBreakers } = parts
  const { catalog, attempts, ledger, clock } = parts.node
  // A late answer is charged and given back.
  const onBilled = (answer: BilledAnswer) => margins.charged({ ...answer, cost: ZERO })
  const onSettleFailed = (error: unknown) =>
    log.error('the end of a request could not be written', errorFields(error))
  return {
    catalog,
    clock,
    secretOf,
    moderator,
    onSettleFailed,
    attempts: observedAttempts(attempts, margins.unsold),
    ledger,
    lateAnswers: new LateAnswers({ attempts, clock, onBilled, onFailed: onSettleFailed }),
    finishingStreams: new FinishingStreams(clock),
    stopSignal: new DisconnectSignal(),
    refusedFields,
    idleStreams,
    providers,
    tokenizer,
    recentPrompts: new RecentPrompts({ clock, hash: text => Bun.hash.xxHash32(text) }),
    circuitBreakers,
    retryBudgets: new RetryBudgets(clock),
    random: () => Math.random(),
  }
}
