import { formatId, idTimeMs } from '../../domain/ids.ts'
import { parseUsd } from '../../domain/money.ts'
import type { RecordedAttempt, RecordedRequest, RequestRecords } from '../../gateway/ports/request-records.ts'
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

/** Hands each finished billable request to the records. A request without a known key has no account that could ask. */
export function recordRequests(
  records: Pick<RequestRecords, 'add' | 'isOn'>,
): (finished: FinishedRequest) => void {
  return finished => {
    if (!records.isOn || !BILLABLE_ROUTES.has(finished.route)) return
    const { request, record } = finished.context
    const { accountId, apiKeyId } = record
    if (request.method !== 'POST' || accountId === undefined || apiKeyId === undefined) return
    records.add(recordedRequest(finished, { accountId, apiKeyId }))
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
  const errorCode = codeOf(record)
  const { errorExtensions: amounts } = record
  return {
    id: requestId,
    atMs: idTimeMs(id),
    ...caller,
    ...(record.projectId !== undefined && { projectId: record.projectId }),
    route,
    ...(record.model !== undefined && { model: record.model }),
    status,
    ...(errorCode !== undefined && { errorCode }),
    durationMs,
    firstByteMs,
    ...(record.held !== undefined && !isReplay && { held: record.held }),
    ...(amounts !== undefined && {
      ...amountOf('required', amounts['required_usd']),
      ...amountOf('available', amounts['available_usd'] ?? amounts['remaining_usd']),
    }),
    ...(record.refusedBy !== undefined && { refusedBy: record.refusedBy }),
    attempts: isReplay ? NO_ATTEMPTS : (record.attempts ?? NO_ATTEMPTS),
    ...(record.cost !== undefined && !isReplay && { cost: record.cost }),
    ...(record.jobId !== undefined && { jobId: record.jobId }),
    isReplay,
    ...(record.replayOf !== undefined && { replayOf: formatId('req', record.replayOf) }),
    clientDisconnected: record.clientDisconnected === true,
    ...(record.tags !== undefined && { tags: Object.fromEntries(record.tags) }),
    ...(record.userId !== undefined && { userId: record.userId }),
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

function amountOf(name: 'required' | 'available', text: string | number | undefined) {
  const amount = typeof text === 'string' ? parseUsd(text) : undefined
  return amount === undefined ? {} : { [name]: amount }
}
