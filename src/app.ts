import { startBackground } from './app/background.ts'
import { connectionsMax, processFiles } from './app/start/file-descriptors.ts'
import { openDataFolder, type DataFolder } from './app/data-folder.ts'
import { firstStart, nothingFilled } from './app/start/first-start.ts'
import { newBooksSentence, otherBooks } from './app/start/new-books.ts'
import { openHandler, type Phase } from './app/open-handler.ts'
import { tryResultStore } from './app/parts/open-job-files.ts'
import { firstLink, linkUrlOf } from './app/parts/open-console.ts'
import { openParts, type Parts } from './app/parts.ts'
import { reportStart } from './app/start/report-start.ts'
export { migrateDataFolder as migrateStore } from './app/migrate-store/migrate-store.ts'
export { restoreBackup } from './app/restore/restore-backup.ts'
import type { Config } from './config/config.ts'
import type { Clock } from './gateway/ports/clock.ts'
import type { MediaProviders } from './gateway/ports/providers/providers.ts'
import type { OperatingPorts } from './http/admin/ports.ts'
import { trustedAdminApi } from './http/admin/admin-api.ts'
import { startServer, type RequestHandler, type RunningServer } from './http1/server/server.ts'
import { errorFields } from './telemetry/log.ts'
import { openEarlyMetrics, type EarlyMetrics } from './telemetry/metrics.ts'
import type { OpenTokenizer } from './tokenizer/tokenizer.ts'

/** Parts that a test can replace. */
export type AppOverrides = {
  readonly clock?: Clock
  /** Media providers that replace those of the same kind. Other kinds do not change. */
  readonly mediaProviders?: MediaProviders
  /** Closed with the app. */
  readonly tokenizer?: OpenTokenizer
  /** Sees every request and its reply. */
  readonly aroundHandler?: (handler: RequestHandler) => RequestHandler
}

export type App = {
  readonly url: string
  /**
   * Refuses new requests, waits for running ones up to the drain limit, and closes the store. Repeated calls share one
   * stop. Rejects after all that if the file with the server's address cannot be removed.
   */
  stop(): Promise<void>
}

/** The time to charge streams that were cut. */
const SETTLE_WITHIN_MS = 7000
const MS_PER_S = 1000

/** Wires all parts and listens. If the data folder or the address is in use, it closes everything and throws. */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const folder = openDataFolder(config.dataDir)
  const earlyMetrics = openEarlyMetrics()
  const parts = await openParts(config, folder, { ...overrides, earlyMetrics })
  try {
    await refuseTokenAsKey(config, parts.admin)
    await tryResultStore(parts.media, detail =>
      parts.log.warn('the storage of results cannot be reached, so jobs wait for it', { detail }),
    )
    // If it is down, the cache logs that. No request needs it.
    await parts.sharedCache?.start()
    const { aroundHandler = (handler: RequestHandler) => handler } = overrides
    return await serve(config, folder, { ...parts, earlyMetrics, aroundHandler })
  } catch (error) {
    parts.log.flush()
    await parts.close()
    throw error
  }
}

/**
 * The admin API of a data folder without a running server. Throws `DataFolderInUseError` if a server uses the folder.
 */
export async function openAdmin(config: Config): Promise<{
  handle(request: Request): Promise<Response>
  close(): Promise<void>
  /** A sentence about the books that this call created. Undefined if the folder had books. */
  readonly created: string | undefined
}> {
  const folder = openDataFolder(config.dataDir)
  const parts = await openParts(config, folder, { isOffline: true })
  await refuseTokenAsKey(config, parts.admin).catch(async (error: unknown) => {
    await parts.close()
    throw error
  })
  return {
    handle: afterUpgrade(trustedAdminApi(parts.admin), parts.finishUpgrade),
    close: parts.close,
    created:
      folder.isNew && config.database === undefined
        ? newBooksSentence('This command', otherBooks(folder.path))
        : undefined,
  }
}

type Handle = (request: Request) => Promise<Response>

/**
 * Budgets and reports of projects wait for the sums of charges of an earlier version, which a gateway adds up while it
 * serves. While it is stopped, the command that needs them does it. A request that is refused with 503 changed nothing.
 */
function afterUpgrade(handle: Handle, finishUpgrade: () => Promise<void>): Handle {
  return async request => {
    const again = request.clone()
    const reply = await handle(request)
    if (reply.status !== 503) return reply
    await finishUpgrade()
    return handle(again)
  }
}

/**
 * Throws if `TOLLGATE_ADMIN_KEY` is an admin token of these books: as the admin key, it could do everything. Commands
 * use a token only with a running gateway, which knows what it may do.
 */
async function refuseTokenAsKey(
  { adminKey }: Config,
  { adminTokens, sha256 }: OperatingPorts,
): Promise<void> {
  const [token] = adminKey === undefined ? [] : await adminTokens.find({ hash: sha256(adminKey) })
  if (token === undefined) return
  throw new Error(
    `TOLLGATE_ADMIN_KEY is the admin token "${token.name}" (${token.publicId}), not the admin key. Commands can use a token while a gateway runs on this data folder. Otherwise, unset it or set the admin key.`,
  )
}

async function serve(
  config: Config,
  folder: DataFolder,
  parts: Parts & {
    readonly earlyMetrics: EarlyMetrics
    readonly aroundHandler: NonNullable<AppOverrides['aroundHandler']>
  },
): Promise<App> {
  const { log, clock, admin, books, leases } = parts
  const adminKey =
    config.adminKey === undefined ? folder.adminKey() : { key: config.adminKey, isNew: false, keep() {} }
  const files = processFiles()
  let phase: Phase = 'starting'
  const opened = openHandler(config, parts, {
    adminKey: adminKey.key,
    files,
    phase: () => phase,
    url: () => server.url,
  })
  const server: RunningServer = startServer({
    host: config.host,
    port: config.port,
    clock,
    timeouts: {
      headMs: config.headTimeoutMs,
      idleMs: config.idleTimeoutMs,
      writeMs: config.stallTimeoutMs,
    },
    connectionsMax: connectionsMax(files.max),
    handler: parts.aroundHandler(opened.handler),
    onHandlerError: error => log.error('a request could not be recorded', errorFields(error)),
  })
  // After the server listens, so that a start whose address is in use does not create keys that are never shown.
  // Books that do not match their anchor may be empty because they were lost, and must not be filled again.
  const mayFill = books.anchor.problem === undefined
  const fill = mayFill ? firstStart(config, { ...admin, leases }) : nothingFilled()
  const linkUrl = linkUrlOf(config, () => server.url)
  const ownerLink = mayFill ? firstLink(config, { ...admin, linkUrl }) : undefined
  const started = await Promise.all([fill, ownerLink]).catch(async (error: unknown) => {
    await server.abort()
    throw error
  })
  adminKey.keep()
  phase = 'serving'
  const withdraw = folder.announce({ url: server.url, pid: process.pid })
  parts.startRecords()
  const stopBackground = startBackground(parts, opened, config)
  reportStart(parts, { url: server.url, config, folder, adminKey, ...started[0], ownerLink: started[1] })

  const stop = async () => {
    phase = 'stopping'
    try {
      withdraw()
    } finally {
      await stopServing(server, parts, { drainMs: config.drainMs, stopBackground })
    }
  }
  let stopped: Promise<void> | undefined
  return { url: server.url, stop: () => (stopped ??= stop()) }
}

async function stopServing(
  server: RunningServer,
  { log, clock, text, media, close }: Parts,
  { drainMs, stopBackground }: { readonly drainMs: number; readonly stopBackground: () => Promise<void> },
): Promise<void> {
  log.info('stopping', {
    running_requests: server.runningRequests,
    running_submits: media.runner.submissions,
    finishing_streams: text.finishingStreams.running,
    drain_s: drainMs / MS_PER_S,
  })
  await drained(server, { text, media }, { drainMs, clock })
  media.stop()
  await stopBackground()
  log.info('stopped', {})
  log.flush()
  await close()
}

/**
 * Waits up to `drainMs` for running requests, which include streams that are finished without their client, and for
 * submits whose client has disconnected. Then aborts the requests and waits until aborted streams are settled. Calls
 * without an answer end at once, and are not charged.
 */
async function drained(
  server: RunningServer,
  { text, media: { runner } }: Pick<Parts, 'text' | 'media'>,
  { drainMs, clock }: { readonly drainMs: number; readonly clock: Clock },
): Promise<void> {
  const ended = server.drain().then(() => runner.submissionsEnded())
  if (await endsWithin(drainMs, ended, clock)) return
  // First, so that the streams of aborted requests are not finished either.
  text.finishingStreams.stop()
  text.stopSignal.fire()
  await endsWithin(SETTLE_WITHIN_MS, server.abort(), clock)
}

async function endsWithin(limitMs: number, work: Promise<void>, clock: Clock): Promise<boolean> {
  const { promise: isLate, resolve } = Promise.withResolvers<boolean>()
  const cancel = clock.after(limitMs, () => resolve(false))
  const isInTime = await Promise.race([work.then(() => true), isLate])
  cancel()
  return isInTime
}
