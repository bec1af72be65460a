import type { Config } from '../config/config.ts'
import type { KeyRoute } from '../domain/accounts/key-settings.ts'
import { admitRead, findCaller } from '../gateway/admission/admit-caller.ts'
import { answerMessage } from '../gateway/text/answer-message.ts'
import { countTokens } from '../gateway/text/count-tokens.ts'
import { answerText } from '../gateway/text/run-text.ts'
import type { ByteBudget } from '../gateway/byte-budgets/byte-budget.ts'
import { replaySwitch } from '../gateway/replays/replay-switch.ts'
import type { RequestCoalescer } from '../gateway/replays/request-coalescer.ts'
import type { TextPorts } from '../gateway/text/text-ports.ts'
import { readBalance, readCredits, readStatement } from '../http/account/balance.ts'
import { readKey } from '../http/account/key.ts'
import { listOwnRequests, readOwnRequest } from '../http/account/requests.ts'
import { readUsage } from '../http/account/usage.ts'
import {
  adminAccess,
  adminKeyCheck,
  requireMetricsReader,
  requireReader,
  type AdminAccess,
} from '../http/admin/admin-access.ts'
import { ADMIN_PATH, adminApi } from '../http/admin/admin-api.ts'
import type { AdminPorts } from '../http/admin/ports.ts'
import { consoleApi } from '../http/console/api.ts'
import type { ConsolePorts } from '../http/console/calls.ts'
import { consoleFileRoutes, type ConsoleFiles } from '../http/console/files.ts'
import { modelsRoutes, type Listings } from '../http/catalog/routes.ts'
import { callerOf, type CallerPorts, type Keyed } from '../http/caller.ts'
import { BODY_TIMES, presentedKey, type IncomingRequest } from '../http/incoming-request.ts'
import { descriptionRoutes } from '../http/description/routes.ts'
import { live, ready, metricsRoute, type Readiness } from '../http/operating/monitoring.ts'
import { messagesReplies } from '../http/reply-style.ts'
import type { Route } from '../http/routes.ts'
import { messagesRoute, replayedRoute, textRoute } from '../http/text/text-route.ts'
import { imageRoutes, type ImageRoutePorts } from '../http/media/image-routes.ts'
import type { MediaRequestPorts } from '../http/media/media-route.ts'
import { videoRoutes, type VideoRoutePorts } from '../http/media/video-routes.ts'
import { listings } from './listings.ts'
import { viewerFiles } from './viewer-files.ts'
import type { Authenticated } from '../gateway/ports/access/api-keys.ts'
import type { Limits } from '../gateway/ports/ledger/limits.ts'
import { chatDialect } from '../protocol/chat/dialect.ts'
import { embeddingsDialect } from '../protocol/embeddings/dialect.ts'
import { responsesDialect } from '../protocol/responses/dialect.ts'
import type { StreamDialect, TextDialect } from '../protocol/text-dialect.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** The parts that the routes use, each under its name. */
export type RoutePorts = {
  readonly caller: CallerPorts
  /** The memory for request bodies. Its owners are API keys. */
  readonly bodyMemory: ByteBudget
  readonly text: TextPorts
  /** Undefined if replays are off. */
  readonly coalescer: RequestCoalescer | undefined
  readonly media: Omit<ImageRoutePorts & VideoRoutePorts, keyof MediaRequestPorts>
  readonly admin: AdminPorts
  readonly console: Omit<ConsolePorts, 'admin' | 'bodyMemory'>
  readonly operating: {
    readonly metrics: Metrics
    readonly readiness: () => Promise<Readiness>
    readonly adminKey: string
  }
  /** Undefined if the console is not built. */
  readonly consoleFiles: ConsoleFiles | undefined
}

/** All routes of the gateway. Any other path is 404, and any other method is 405. */
export function gatewayRoutes(ports: RoutePorts, config: Config): readonly Route[] {
  const { caller, bodyMemory } = ports
  const { ledger, catalog } = ports.admin
  const { metrics, readiness, adminKey } = ports.operating
  const { limits } = ports.admin
  const keyed = keyedRoute(caller, limits)
  const access = adminAccess(adminKey, ports.admin)
  const admin = adminApi(ports.admin, access, bodyMemory)
  const listed = listings(catalog, config, {
    serves: ports.media.serves,
    isVariableSet: ports.admin.isVariableSet,
  })
  const bodyLimits = { ...BODY_TIMES, bytesMax: config.mediaBodyBytesMax }
  const tagsHeader = tagsHeaderOf(config)
  const media = { ...ports.media, caller, bodyMemory, bodyLimits, tagsHeader }
  return [
    ...textRoutes(ports, config, listed),
    ...imageRoutes(media, config, keyed),
    ...videoRoutes(media, config, keyed),
    ...modelsRoutes(listed, keyed, knownCaller(caller)),
    { path: '/v1/balance', name: 'balance', methods: { GET: keyed(caller => readBalance(caller, ledger)) } },
    { path: '/v1/credits', name: 'credits', methods: { GET: keyed(caller => readCredits(caller, ledger)) } },
    { path: '/v1/key', name: 'key', methods: { GET: keyed(caller => readKey(caller, ports.admin)) } },
    {
      path: '/v1/usage',
      name: 'usage',
      methods: { GET: keyed((caller, { request }) => readUsage(request, caller, ports.admin)) },
    },
    {
      path: '/v1/requests',
      name: 'requests',
      methods: { GET: keyed((caller, { request }) => listOwnRequests(request, caller, ports.admin)) },
    },
    {
      path: '/v1/requests/*',
      name: 'requests.one',
      methods: { GET: keyed((caller, { request }) => readOwnRequest(request, caller, ports.admin)) },
    },
    {
      path: '/v1/statement',
      name: 'statement',
      methods: { GET: keyed((caller, { request }) => readStatement(request, caller, ledger)) },
    },
    {
      path: `${ADMIN_PATH}*`,
      name: 'admin',
      methods: { GET: admin, POST: admin, PUT: admin, PATCH: admin, DELETE: admin, OPTIONS: admin },
    },
    ...consoleRoutes(ports, config),
    ...descriptionRoutes(config, viewerFiles, request => requireReader(access, request)),
    { path: '/health/live', name: 'health.live', methods: { GET: live } },
    { path: '/health/ready', name: 'health.ready', methods: { GET: ready(readiness) } },
    {
      path: '/metrics',
      name: 'metrics',
      methods: { GET: metricsRoute(metrics, metricsReaders(config, access)) },
    },
    // After the API of the console, because its page is at all other paths.
    ...(config.consolePath === 'off' ? [] : consoleFileRoutes(config.consolePath, ports.consoleFiles)),
  ]
}

function consoleRoutes(ports: RoutePorts, { consolePath }: Config): readonly Route[] {
  if (consolePath === 'off') return []
  const { admin, bodyMemory } = ports
  return consoleApi(consolePath, { ...ports.console, admin, bodyMemory })
}

function tagsHeaderOf({ brand }: Config): string {
  return `x-${brand}-tags`
}

/** Admits who may read the metrics: everyone, or holders of the key for metrics, the admin key or a token for them. */
function metricsReaders({ isMetricsPublic, metricsKey }: Config, access: AdminAccess) {
  const isMetricsKey = metricsKey === undefined ? () => false : adminKeyCheck(metricsKey)
  return async (request: IncomingRequest) => {
    if (!isMetricsPublic) await requireMetricsReader(access, isMetricsKey, request)
  }
}

function textRoutes(ports: RoutePorts, config: Config, { forAll }: Listings): readonly Route[] {
  const { caller, bodyMemory, text, coalescer } = ports
  const bodyLimits = { ...BODY_TIMES, bytesMax: config.bodyBytesMax }
  const tagsHeader = tagsHeaderOf(config)
  const route = (group: KeyRoute) => ({ caller, group, bodyMemory, bodyLimits, tagsHeader })
  const replays = {
    coalescer,
    mayReplay: replaySwitch(text.catalog),
    idempotencyHeader: `x-${config.brand}-idempotency`,
  }
  const replayed = (group: KeyRoute, dialect: TextDialect | StreamDialect) => ({
    POST: replayedRoute(route(group), dialect, call => answerText(call, dialect, text, config), replays),
  })
  return [
    { path: '/v1/chat/completions', name: 'chat', methods: replayed('chat_completions', chatDialect) },
    { path: '/v1/responses', name: 'responses', methods: replayed('responses', responsesDialect) },
    { path: '/v1/embeddings', name: 'embeddings', methods: replayed('embeddings', embeddingsDialect) },
    {
      path: '/v1/messages',
      name: 'messages',
      methods: { POST: messagesRoute(route('messages'), call => answerMessage(call, text, config)) },
      style: messagesReplies,
    },
    {
      path: '/v1/messages/count_tokens',
      name: 'count_tokens',
      methods: {
        POST: textRoute(route('messages'), call => countTokens(call, forAll(), ports.admin.limits)),
      },
      style: messagesReplies,
    },
  ]
}

/** Wraps a read that needs an API key. It counts as a request of the key. */
function keyedRoute(ports: CallerPorts, limits: Limits): Keyed {
  return (handle, route) => async context => {
    const caller = await callerOf(context, route, ports)
    await admitRead(caller, context.record, limits)
    return handle(caller, context)
  }
}

/** Finds the caller of a request that may come without a key. */
function knownCaller(ports: CallerPorts): (request: IncomingRequest) => Promise<Authenticated | undefined> {
  return async request => {
    const key = presentedKey(request)
    return key === undefined ? undefined : findCaller(key, ports)
  }
}
