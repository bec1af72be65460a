import { errorTypeOf, type ErrorCode } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import { errorFields, textMember, type Log, type LogLevel, type LogMembers } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { RequestRecord } from '../request-context.ts'
import type { FinishedRequest } from '../request-handler.ts'

/** Routes that monitoring calls every few seconds, and files of the console. They are logged at level debug. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['health.live', 'health.ready', 'metrics', 'console.files'])

/** Logs and counts each finished request. `isRecorded` is false for one of many alike refusals. */
export function observeRequests(
  log: Log,
  metrics: Metrics,
  forwarding: Forwarding,
): (finished: FinishedRequest, isRecorded: boolean) => void {
  return (finished, isRecorded) => {
    const { context, route, status, durationMs } = finished
    const { record, requestId } = context
    metrics.countRequest({ route, status, durationMs, record })
    const level = levelOf(route, record, isRecorded)
    if (log.writes(level))
      log[level]('request', requestLine(finished, forwarding.clientAddress(context.request)))
    if (record.failure !== undefined) {
      log.error('request failed', { request_id: requestId, route, ...errorFields(record.failure) })
    }
  }
}

/** The errors of a provider. The operator may have to act, and the client did nothing wrong. */
const PROVIDER_ERRORS: ReadonlySet<string> = new Set<ErrorCode>([
  'upstream_error',
  'upstream_timeout',
  'rate_limited',
])

/**
 * The level of the line of a request, by who has to act. `error` is a fault of the gateway, `warn` a fault of a
 * provider or the moderator, even if the client got an answer. Refusals of clients are `info`; those that are not
 * recorded, because there were many alike, are `debug`, so that a flood of them does not fill the disk.
 */
export function levelOf(route: string, record: RequestRecord, isRecorded = true): LogLevel {
  const { failure, errorCode, jobFault, upstreamFailures = [], moderationProblem } = record
  if (failure !== undefined) return 'error'
  // The code may be the provider's, so it does not decide.
  if (jobFault !== undefined) return jobFault === 'provider' ? 'warn' : 'info'
  if (isOwnFault(errorCode)) return 'error'
  const isProviderFault = upstreamFailures.length > 0 || PROVIDER_ERRORS.has(errorCode ?? '')
  if (isProviderFault || moderationProblem !== undefined) return 'warn'
  return QUIET_ROUTES.has(route) || !isRecorded ? 'debug' : 'info'
}

function isOwnFault(code: string | undefined): boolean {
  return code !== undefined && code in errorTypeOf && errorTypeOf[code as ErrorCode] === 'server_error'
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
