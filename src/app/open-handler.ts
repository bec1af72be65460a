import type { Config } from '../config/config.ts'
import { RefusalPace } from '../gateway/admission/refusal-pace.ts'
import { bodyMemory } from '../gateway/byte-budgets/body-budgets.ts'
import type { ByteBudget } from '../gateway/byte-budgets/byte-budget.ts'
import { HoldQueue } from '../gateway/admission/hold-queue.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Reconcile } from '../gateway/ports/ledger/reconcile.ts'
import type { SharedCache } from '../gateway/ports/requests/shared-cache.ts'
import { replayBudget } from '../stores/memory/answer-log.ts'
import { RequestCoalescer } from '../gateway/replays/request-coalescer.ts'
import { Cors, exposedHeaders } from '../http/cors.ts'
import { Forwarding } from '../http/forwarding.ts'
import type { Readiness } from '../http/operating/monitoring.ts'
import { observeRequests } from '../http/operating/observe-requests.ts'
import { recordRequests } from '../http/operating/record-requests.ts'
import { requestHandler, type RequestHandlerPorts } from '../http/request-handler.ts'
import type { RequestHandler } from '../http1/server/server.ts'
import { memoryReplays } from '../stores/memory/replays.ts'
import type { Gauges } from '../telemetry/gauges.ts'
import { openMetrics, type EarlyMetrics, type Metrics } from '../telemetry/metrics.ts'
import type { ProcessFiles } from '../telemetry/process-metrics.ts'
import { countedPasses } from './background.ts'
import { consoleFiles } from './console-files.ts'
import { linkUrlOf, openConsole } from './parts/open-console.ts'
import type { Parts } from './parts.ts'
import { gatewayRoutes, type RoutePorts } from './routes.ts'

export type Phase = 'starting' | 'serving' | 'stopping'

/** The parts that only a running server has. */
type OpenedHandler = {
  readonly handler: RequestHandler
  readonly metrics: Metrics
  /** Runs the reconciler once, and counts the pass in the metrics. */
  readonly reconcile: Reconcile
}

/** Makes the handler of all requests, and opens the parts that only a server needs: holds, replays and metrics. */
export function openHandler(
  config: Config,
  parts: Parts & { readonly earlyMetrics: EarlyMetrics },
  server: {
    readonly adminKey: string
    readonly files: ProcessFiles
    readonly phase: () => Phase
    /** Where the server listens, once it does. */
    readonly url: () => string
  },
): OpenedHandler {
  const { clock } = parts
  const admin = { ...parts.admin, linkUrl: linkUrlOf(config, server.url) }
  const holds = new HoldQueue(
    { ledger: admin.ledger, guard: parts.books.guard, clock },
    { waitMs: config.holdWaitMs, mode: config.textHolds },
  )
  const replays = openReplays(config, { clock, sharedCache: parts.sharedCache })
  const memory = bodyMemory(config.bufferedBytesMax, clock)
  const metrics = openMetrics(gaugesOf(parts, { holds, replays, memory }), parts.earlyMetrics, server.files)
  const reconcile = countedPasses(parts, metrics)
  const forwarding = new Forwarding(config)
  const ports: RoutePorts = {
    caller: { ...parts.caller, forwarding },
    bodyMemory: memory,
    text: { ...parts.text, holds },
    coalescer: replays.coalescer,
    media: {
      ...parts.media,
      guard: parts.books.guard,
      newId: admin.newId,
      isSandboxOn: config.isSandboxOn,
      forwarding,
    },
    admin: { ...admin, reconcile },
    console: openConsole(config, { admin, clock, forwarding, log: parts.log }),
    operating: {
      metrics,
      readiness: () => readinessOf(parts, server.phase()),
      adminKey: server.adminKey,
    },
    consoleFiles: config.consolePath === 'off' ? undefined : consoleFiles(),
  }
  const handler = requestHandler(
    gatewayRoutes(ports, config),
    handlerPortsOf(config, parts, { metrics, forwarding }),
  )
  return { handler, metrics, reconcile }
}

function gaugesOf(
  { admin, text, media, books, heldNow, clockOffsetMs, sharedCache }: Parts,
  {
    holds,
    replays,
    memory,
  }: { readonly holds: HoldQueue; readonly replays: ReplayParts; readonly memory: ByteBudget },
): Gauges {
  return {
    held: heldNow,
    clockOffsetMs,
    waiting: () => holds.waiting,
    lateCalls: () => text.lateAnswers.running,
    finishingStreams: () => text.finishingStreams.running,
    openJobs: () => media.jobs.openCounts(),
    openCircuits: () => text.circuitBreakers.open,
    replayBytes: replays.bytes,
    sharedCache,
    anchorFailures: books.anchorFailures,
    isStopped: () => books.guard.stop !== undefined,
    stoppedAccounts: () => books.guard.stoppedAccounts,
    bodyMemory: memory,
    records: admin.records,
    webhooks: admin.webhooks,
    mail: admin.mail,
    inputSpool: media.inputSpool,
  }
}

async function readinessOf({ books, probeStore, storeProblem }: Parts, phase: Phase): Promise<Readiness> {
  if (phase !== 'serving') return { isReady: false, reason: `The gateway is ${phase}.` }
  const reason = books.guard.stop ?? (await storeProblem())
  if (reason !== undefined) return { isReady: false, reason }
  await probeStore()
  return { isReady: true }
}

function handlerPortsOf(
  { brand, corsOrigins }: Config,
  { log, admin, text: { clock } }: Parts,
  { metrics, forwarding }: { readonly metrics: Metrics; readonly forwarding: Forwarding },
): RequestHandlerPorts {
  const costHeader = `x-${brand}-cost-usd`
  const replayHeader = `x-${brand}-replay`
  const logAndCount = observeRequests(log, metrics, forwarding)
  const record = recordRequests(admin.records)
  return {
    nextId: admin.newId,
    elapsed: () => performance.now(),
    now: () => clock.now(),
    observe: finished => logAndCount(finished, record(finished)),
    costHeader,
    replayHeader,
    cors: new Cors({ origins: corsOrigins, exposedHeaders: exposedHeaders([costHeader, replayHeader]) }),
    refusals: new RefusalPace(clock),
  }
}

/** The parts for replays of identical requests. */
type ReplayParts = {
  /** Undefined if replays are off. */
  readonly coalescer: RequestCoalescer | undefined
  /** The memory of kept answers and of copies of running streams. */
  readonly bytes: () => number
}

/**
 * Opens replays with the settings. Answers are kept in this process, in a budget that they share with the copies of
 * running streams; with a shared cache, also there. A request waits for the answer of another one for at most the read
 * timeout.
 */
function openReplays(
  config: Config,
  { clock, sharedCache: shared }: { readonly clock: Clock; readonly sharedCache: SharedCache | undefined },
): ReplayParts {
  const { replayTtlMs, replayBytesMax, readTimeoutMs } = config
  if (replayTtlMs === 0) return { coalescer: undefined, bytes: () => 0 }
  const budget = replayBudget(replayBytesMax)
  const replays = memoryReplays({ budget, clock }, { ttlMs: replayTtlMs })
  return {
    coalescer: new RequestCoalescer(
      { replays, shared, budget, sha256, clock },
      { patienceMs: readTimeoutMs },
    ),
    bytes: () => budget.taken,
  }
}

function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'base64')
}
