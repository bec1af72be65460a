import { formatId, idTimeMs } from '../../domain/ids.ts'
import { parseUsd, type NanoUsd } from '../../domain/money.ts'
import type {
  RecordedAttempt,
  RecordedRequest,
  RequestRecords,
} from '../../gateway/ports/requests/request-records.ts'
import type { RequestRecord } from '../request-context.ts'
import type { FinishedRequest } from '../request-handler.ts'

/** The routes whose POST can cost money. */
const BILLABLE_ROUTES: ReadonlySet<string> = new Set([
  'chat',
  'responses',
  'messages',
  'embeddings',
  'images',
  'images.edits',
  'videos',
  'videos.generations',
  'videos.extend',
  'videos.storyboard',
])

/**
 * Hands each finished billable request to the records. A request without a known key has no account that could ask.
 * Returns false if it is one of many alike refusals, which are only counted.
 */
export function recordRequests(
  records: Pick<RequestRecords, 'add' | 'isOn'>,
): (finished: FinishedRequest) => boolean {
  return finished => {
    if (!records.isOn || !BILLABLE_ROUTES.has(finished.route)) return true
    const { request, record } = finished.context
    const { accountId, apiKeyId } = record
    if (request.method !== 'POST' || accountId === undefined || apiKeyId === undefined) return true
    return records.add(recordedRequest(finished, { accountId, apiKeyId }))
  }
}

const NO_ATTEMPTS: readonly RecordedAttempt[] = []

/** Names every member, so that nothing of a request is kept by accident. */
function recordedRequest(
  { context, route, status, durationMs, firstByteMs }: FinishedRequest,
  caller: { readonly accountId: string; readonly apiKeyId: string },
): RecordedRequest {
  const { record, id, requestId } = context
  const isReplay = record.isReplay === true
  const { errorExtensions: amounts } = record
  return {
    id: requestId,
    atMs: idTimeMs(id),
    accountId: caller.accountId,
    apiKeyId: caller.apiKeyId,
    projectId: record.projectId,
    route,
    model: record.model,
    status,
    errorCode: codeOf(record),
    durationMs,
    firstByteMs,
    held: isReplay ? undefined : record.held,
    required: amounts && amountOf(amounts['required_usd']),
    available: amounts && amountOf(amounts['available_usd'] ?? amounts['remaining_usd']),
    refusedBy: record.refusedBy,
    attempts: isReplay ? NO_ATTEMPTS : (record.attempts ?? NO_ATTEMPTS),
    cost: isReplay ? undefined : record.cost,
    usage: isReplay ? undefined : record.usage,
    jobId: record.jobId,
    isReplay,
    replayOf: record.replayOf && formatId('req', record.replayOf),
    clientDisconnected: record.clientDisconnected === true,
    tags: record.tags && Object.fromEntries(record.tags),
    userId: record.userId,
    alikeRefusals: 0,
  }
}

/** The codes of the gateway, and of providers that write codes as it does. */
const CODE = /^[a-z0-9_.-]{1,64}$/i

/** The code of a refusal, of a failed job, or of a stream that broke after its status 200. */
function codeOf({
  errorCode,
  jobState,
  upstreamProblem,
  upstreamFailures,
}: RequestRecord): string | undefined {
  // The code of a provider could be any text.
  if (errorCode !== undefined) return CODE.test(errorCode) ? errorCode : (jobState ?? 'upstream_error')
  if (upstreamProblem === undefined) return undefined
  const reason = upstreamFailures?.at(-1)?.reason
  if (reason === 'idle_stream') return 'upstream_timeout'
  return reason === 'broken_stream' ? 'upstream_error' : undefined
}

function amountOf(text: string | number | undefined): NanoUsd | undefined {
  return typeof text === 'string' ? parseUsd(text) : undefined
}
