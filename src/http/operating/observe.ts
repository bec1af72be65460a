import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Finished } from '../endpoint.ts'
import type { IncomingRequest } from '../incoming-request.ts'

/** Routes that machines ask every few seconds; their lines are for debugging only. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['health.live', 'health.ready', 'metrics'])

/** Logs a line and counts, for each request that ended. */
export function observeRequests(log: Log, metrics: Metrics): (finished: Finished) => void {
  return finished => {
    const { context, route, status, durationMs } = finished
    const { trace, requestId, request } = context
    metrics.countRequest({ route, status, durationMs, trace })
    const write = QUIET_ROUTES.has(route) ? log.debug : log.info
    write('request', {
      request_id: requestId,
      client_request_id: clientRequestId(request),
      route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      account: trace.accountId,
      api_key: trace.apiKeyId,
      model: trace.model,
      provider: trace.provider,
      upstream_status: trace.upstreamStatus,
      upstream_problem: trace.upstreamProblem,
      was_left: trace.wasLeft,
      switched_from: trace.switchedFrom?.join('; '),
      input_tokens: trace.usage && inputTokens(trace.usage),
      output_tokens: trace.usage && outputTokens(trace.usage),
      usage_source: trace.provenance,
      is_clamped: trace.isClamped === true ? true : undefined,
      cost_usd: trace.cost === undefined ? undefined : formatUsd(trace.cost),
      moderation: trace.moderation,
      moderation_problem: trace.moderationProblem,
      is_replay: trace.isReplay === true ? true : undefined,
      error_code: trace.errorCode,
    })
    if (trace.failure !== undefined) {
      log.error('request failed', { request_id: requestId, route, ...errorFields(trace.failure) })
    }
  }
}

/** No more than this of what a client calls its request goes into the log. */
const CLIENT_ID_CHARS_MAX = 128

function clientRequestId(request: IncomingRequest): string | undefined {
  const id = request.header('x-client-request-id') ?? request.header('x-request-id')
  return id?.slice(0, CLIENT_ID_CHARS_MAX)
}
