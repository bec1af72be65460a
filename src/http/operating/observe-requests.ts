import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import { errorFields, textMember, type Log, type LogMembers } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { FinishedRequest } from '../request-handler.ts'

/** Routes that monitoring calls every few seconds. They are logged at level debug. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['health.live', 'health.ready', 'metrics'])

/** Logs and counts each finished request. */
export function observeRequests(
  log: Log,
  metrics: Metrics,
  forwarding: Forwarding,
): (finished: FinishedRequest) => void {
  return finished => {
    const { context, route, status, durationMs } = finished
    const { record, requestId } = context
    metrics.countRequest({ route, status, durationMs, record })
    const level = QUIET_ROUTES.has(route) ? 'debug' : 'info'
    if (log.writes(level))
      log[level]('request', requestLine(finished, forwarding.clientAddress(context.request)))
    if (record.failure !== undefined) {
      log.error('request failed', { request_id: requestId, route, ...errorFields(record.failure) })
    }
  }
}

/** The part of a client's own request id that is logged. */
const CLIENT_ID_CHARS_MAX = 128

/**
 * The members of the log line of a request. They are written as text, because every request has one, and an object with
 * all possible members costs several times as much.
 */
export function requestLine(
  { context, route, status, durationMs }: FinishedRequest,
  clientAddress: string,
): LogMembers {
  const { record, requestId, request } = context
  // Ids, addresses, route names and decimals have no characters that JSON escapes.
  let line = `"request_id":"${requestId}"`
  line += textMember('client_request_id', clientRequestId(request))
  if (clientAddress !== '') line += `,"client_address":"${clientAddress}"`
  line += `,"route":"${route}","status":${status},"duration_ms":${Math.round(durationMs * 1000) / 1000}`
  if (record.accountId !== undefined) line += `,"account":"${record.accountId}"`
  if (record.apiKeyId !== undefined) line += `,"api_key":"${record.apiKeyId}"`
  line += textMember('model', record.model) + textMember('provider', record.provider)
  if (record.jobId !== undefined) line += `,"job_id":"${record.jobId}"`
  if (record.jobState !== undefined) line += `,"job_state":"${record.jobState}"`
  if (record.upstreamStatus !== undefined) line += `,"upstream_status":${record.upstreamStatus}`
  line += textMember('upstream_problem', record.upstreamProblem)
  if (record.clientDisconnected === true) line += ',"client_disconnected":true'
  line += textMember('failed_over_from', record.failedOverFrom?.join('; '))
  const { usage } = record
  if (usage !== undefined) {
    line += `,"input_tokens":${inputTokens(usage)},"output_tokens":${outputTokens(usage)}`
  }
  if (record.provenance !== undefined) line += `,"usage_source":"${record.provenance}"`
  if (record.isClamped === true) line += ',"is_clamped":true'
  if (record.cost !== undefined) line += `,"cost_usd":"${formatUsd(record.cost)}"`
  line +=
    textMember('moderation', record.moderation) + textMember('moderation_problem', record.moderationProblem)
  if (record.isReplay === true) line += ',"is_replay":true'
  return line + textMember('error_code', record.errorCode)
}

function clientRequestId(request: IncomingRequest): string | undefined {
  const id = request.header('x-client-request-id') ?? request.header('x-request-id')
  return id?.slice(0, CLIENT_ID_CHARS_MAX)
}
