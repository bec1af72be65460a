import type { Config } from '../config/config.ts'
import { admitCaller, type AdmitCallerPorts } from '../gateway/admission/admit-caller.ts'
import { answerMessage } from '../gateway/text/answer-message.ts'
import { countTokens } from '../gateway/text/count-tokens.ts'
import type { ByteBudget } from '../gateway/budgets/byte-budget.ts'
import { replaySwitch } from '../gateway/replays/replay-switch.ts'
import type { RequestCoalescer } from '../gateway/replays/request-coalescer.ts'
import type { TextPorts } from '../gateway/text/text-ports.ts'
import { readBalance, readCredits } from '../http/account/balance.ts'
import { readStatement } from '../http/account/statement.ts'
import { readUsage } from '../http/account/usage.ts'
import { ADMIN_PATH, adminApi, adminKeyCheck } from '../http/admin/admin-api.ts'
import type { AdminPorts } from '../http/admin/call.ts'
import { modelsRoutes, type Listings } from '../http/catalog/routes.ts'
import { BODY_TIMES } from '../http/body-times.ts'
import { descriptionRoutes } from '../http/description/routes.ts'
import { live, ready, type Readiness } from '../http/operating/health.ts'
import { metricsRoute } from '../http/operating/metrics-route.ts'
import type { BodyLimits } from '../http1/server/request-body.ts'
import type { Handler, HttpReply, RequestContext } from '../http/request-context.ts'
import { presentedKey } from '../http/presented-key.ts'
import { messagesReplies } from '../http/reply-style.ts'
import type { Route } from '../http/routes.ts'
import { messagesRoute, replayedRoute, textRoute } from '../http/text/text-route.ts'
import { imageRoutes, type ImageRoutePorts } from '../http/media/image-routes.ts'
import { videoRoutes, type VideoRoutePorts } from '../http/media/video-routes.ts'
import { listings } from './listings.ts'
import { viewerFiles } from './viewer-files.ts'
import type { Authenticated } from '../gateway/ports/accounts.ts'
import { chatDialect } from '../protocol/chat/dialect.ts'
import { embeddingsDialect } from '../protocol/embeddings/dialect.ts'
import { responsesDialect } from '../protocol/responses/dialect.ts'
import type { StreamDialect, TextDialect } from '../protocol/text-dialect.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export type RoutePorts = AdmitCallerPorts &
  TextPorts &
  AdminPorts &
  Omit<ImageRoutePorts & VideoRoutePorts, 'bodyLimits'> & {
    readonly bodyMemory: ByteBudget
    readonly metrics: Metrics
    /** Undefined if replays are off. */
    readonly coalescer: RequestCoalescer | undefined
    readonly readiness: () => Promise<Readiness>
    readonly adminKey: string
  }

/** All routes of the gateway. Any other path is 404, and any other method is 405. */
export function gatewayRoutes(ports: RoutePorts, config: Config): readonly Route[] {
  const { ledger, metrics, adminKey } = ports
  const keyed = keyedRoute(ports)
  const admin = adminApi(ports, adminKey, ports.bodyMemory)
  const listed = listings(ports.catalog, config, ports)
  const media = { ...ports, bodyLimits: { ...BODY_TIMES, bytesMax: config.mediaBodyBytesMax } }
  return [
    ...textRoutes(ports, config, listed),
    ...imageRoutes(media, config, keyed),
    ...videoRoutes(media, config, keyed),
    ...modelsRoutes(listed, keyed),
    { path: '/v1/balance', name: 'balance', methods: { GET: keyed(caller => readBalance(caller, ledger)) } },
    { path: '/v1/credits', name: 'credits', methods: { GET: keyed(caller => readCredits(caller, ledger)) } },
    {
      path: '/v1/usage',
      name: 'usage',
      methods: { GET: keyed((caller, { request }) => readUsage(request, caller, ports)) },
    },
    {
      path: '/v1/statement',
      name: 'statement',
      methods: { GET: keyed((caller, { request }) => readStatement(request, caller, ledger)) },
    },
    {
      path: `${ADMIN_PATH}*`,
      name: 'admin',
      methods: { GET: admin, POST: admin, PUT: admin, PATCH: admin, DELETE: admin },
    },
    ...descriptionRoutes(config.brand, viewerFiles),
    { path: '/health/live', name: 'health.live', methods: { GET: live } },
    { path: '/health/ready', name: 'health.ready', methods: { GET: ready(ports.readiness) } },
    {
      path: '/metrics',
      name: 'metrics',
      methods: { GET: metricsRoute(metrics, config.isMetricsPublic ? undefined : adminKeyCheck(adminKey)) },
    },
  ]
}

function textRoutes(ports: RoutePorts, config: Config, { forAll }: Listings): readonly Route[] {
  const bodyLimits: BodyLimits = {
    bytesMax: config.bodyBytesMax,
    ...BODY_TIMES,
  }
  const route = {
    ...ports,
    mayReplay: replaySwitch(ports.catalog),
    idempotencyHeader: `x-${config.brand}-idempotency`,
    bodyLimits,
  }
  const replayed = (dialect: TextDialect | StreamDialect) => ({ POST: replayedRoute(route, dialect, config) })
  return [
    { path: '/v1/chat/completions', name: 'chat', methods: replayed(chatDialect) },
    { path: '/v1/responses', name: 'responses', methods: replayed(responsesDialect) },
    { path: '/v1/embeddings', name: 'embeddings', methods: replayed(embeddingsDialect) },
    {
      path: '/v1/messages',
      name: 'messages',
      methods: { POST: messagesRoute(route, call => answerMessage(call, ports, config)) },
      style: messagesReplies,
    },
    {
      path: '/v1/messages/count_tokens',
      name: 'count_tokens',
      methods: { POST: textRoute(route, call => countTokens(call, forAll())) },
      style: messagesReplies,
    },
  ]
}

type KeyedHandler = (caller: Authenticated, context: RequestContext) => Promise<HttpReply>

/** Wraps a handler that needs an API key. */
function keyedRoute(ports: AdmitCallerPorts): (handle: KeyedHandler) => Handler {
  return handle => async context =>
    handle(await admitCaller(presentedKey(context.request), context.trace, ports), context)
}
