import { GatewayError, type ErrorType } from '../../domain/errors.ts'
import type { FailureReason, Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { MS_PER_S } from '../../domain/time.ts'
import { openImages, type ResultPorts } from '../../gateway/media/files/open-result.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import type { OpenBlob } from '../../gateway/ports/media/blobs.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { Base64Body, base64Length, type BodyPart } from './base64-json.ts'

/** Money may have moved or a repeat cannot help, so client libraries must not send the request again by themselves. */
export const NO_RETRY = { 'x-should-retry': 'false' }

/** The reply to the request that created a failed job. */
const replyTo = {
  rejected: { status: 400, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  provider_unavailable: { status: 502, type: 'upstream_error' },
  not_configured: { status: 502, type: 'upstream_error' },
  no_job_id: { status: 502, type: 'upstream_error' },
  generation_failed: { status: 502, type: 'generation_error' },
  submit_unconfirmed: { status: 502, type: 'upstream_error' },
  overdue: { status: 502, type: 'generation_error' },
  result_lost: { status: 502, type: 'generation_error' },
} as const satisfies Record<FailureReason, { readonly status: number; readonly type: ErrorType }>

/** The facts that the reply to a request depends on, besides its job. */
export type Creation = {
  /** Whether it has an idempotency key. */
  readonly isRepeatable: boolean
}

/** The reply to the request that created an image job. */
export async function createdImageReply(
  job: Job,
  creation: Creation,
  ports: ResultPorts,
): Promise<HttpReply> {
  if (job.state !== 'completed') return unfinishedReply(job, creation)
  if (job.archivedAtMs !== null) return imageReply(job, ports)
  const paid = { created: unixSeconds(job.createdAtMs), cost_usd: costOf(job) }
  return withImages(paid, await openPaidImages(job, ports))
}

/**
 * Like `openImages`, for the reply to the request that created the job. A client that sent it again would get other
 * images, and pay twice, so whatever is at fault, the error has the id of the job.
 */
export async function openPaidImages(job: Job, ports: ResultPorts): ReturnType<typeof openImages> {
  try {
    return await openImages(job, ports)
  } catch (cause) {
    const id = publicId(job)
    const message = `The images are made and paid, but cannot be read at the moment. Read them later with GET /v1/images/jobs/${id}. Do not send the request again.`
    const extensions = { id, cost_usd: costOf(job) }
    throw new GatewayError('unavailable', message, { shouldRetry: false, extensions, cause })
  }
}

/** The reply to `GET /v1/images/jobs/{id}`: 200 for every state of the caller's own job. */
export async function imageReply(job: Job, ports: ResultPorts): Promise<HttpReply> {
  const common = { id: publicId(job), status: job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  if (job.state !== 'completed') return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
  const paid = { ...common, cost_usd: costOf(job) }
  return withImages(paid, job.archivedAtMs === null ? await openImages(job, ports) : undefined)
}

/** The reply to the request that created a video job. `baseUrl` is where this request reached the gateway. */
export function createdVideoReply(job: Job, creation: Creation, baseUrl: string) {
  if (job.state === 'completed') return jsonReply(200, completedVideo(job, baseUrl))
  return unfinishedReply(job, creation, { model: job.model, created: unixSeconds(job.createdAtMs) })
}

/** The reply to `GET /v1/videos/{id}`: 200 for every state of the caller's own job. */
export function videoReply(job: Job, baseUrl: string) {
  if (job.state === 'completed') return jsonReply(200, completedVideo(job, baseUrl))
  const common = { ...identity(job), status: job.state === 'queued' ? 'pending' : job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
}

/** The reply to a request whose job has no result, or none yet: 202, or the error of the job. */
export function unfinishedReply(job: Job, creation: Creation, own: object = {}) {
  if (job.state === 'failed') return failedReply(job, creation)
  const id = publicId(job)
  const estimate = { estimated_cost_usd: formatUsd(job.held) }
  if (job.state === 'unknown_submit') {
    const error = {
      message:
        'The provider did not confirm the job. The gateway is looking for the job and keeps its reserve until then.',
      type: 'upstream_error',
      code: 'unknown_submit',
      param: null,
    }
    return jsonReply(502, { error, id, status: 'unknown_submit', ...estimate }, NO_RETRY)
  }
  return jsonReply(202, { id, status: 'processing', ...own, ...estimate })
}

/**
 * A request that the provider's rate limit refused may be sent again: nothing was accepted, and nothing is held. With
 * the same idempotency key, it would get this failed job again.
 */
function failedReply(job: Job, { isRepeatable }: Creation) {
  const { reason = 'generation_failed', retryAfterS } = job.failure ?? {}
  const isRateLimited = reason === 'rate_limited'
  const headers = {
    ...(isRateLimited && retryAfterS !== undefined ? { 'retry-after': String(retryAfterS) } : {}),
    ...(isRateLimited && !isRepeatable ? {} : NO_RETRY),
  }
  return jsonReply(replyTo[reason].status, failureBody(job), headers)
}

/**
 * The `error` of a failed job: the provider's code if it gave one, and its message without hosts and keys. No field of
 * the request is known to be at fault.
 */
export function failureError({ failure }: Pick<Job, 'failure'>) {
  if (failure === null) return { message: 'The job failed.', type: 'generation_error', param: null }
  const { reason, code, message } = failure
  return { message, type: replyTo[reason].type, ...(code === undefined ? {} : { code }), param: null }
}

/** The whole body, for the request that created the job. */
function failureBody(job: Job): object {
  return { error: failureError(job), id: publicId(job), cost_usd: '0' }
}

/**
 * `fields` with `data` behind them: each image as base64, read from the blob store while the reply is sent. Without any
 * image, like the reply of an archived job, if a file is missing or changed.
 */
function withImages(fields: object, files: readonly OpenBlob[] | undefined): HttpReply {
  if (files === undefined) return jsonReply(200, { ...fields, data: [], archived: true })
  // Ids, decimals and state names are ASCII.
  const head = `${JSON.stringify(fields).slice(0, -1)},"data":[`
  const parts: BodyPart[] = [head]
  let contentLength = head.length
  for (const [index, file] of files.entries()) {
    const start = index === 0 ? '{"b64_json":"' : ',{"b64_json":"'
    parts.push(start, file.stream, '"}')
    contentLength += start.length + base64Length(file.bytes) + 2
  }
  parts.push(']}')
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: new Base64Body(parts), contentLength: contentLength + 2 }
}

function identity(job: Job) {
  return { id: publicId(job), model: job.model, created: unixSeconds(job.createdAtMs) }
}

/** A completed video job. */
export function completedVideo(job: Job, baseUrl: string) {
  const url = `${baseUrl}/v1/videos/${publicId(job)}/content`
  const isArchived = job.archivedAtMs !== null
  return {
    ...identity(job),
    status: 'completed',
    ...(job.durationMs === null ? {} : { duration: job.durationMs / MS_PER_S }),
    cost_usd: costOf(job),
    data: isArchived ? [] : [{ url }],
    ...(isArchived ? { archived: true } : {}),
  }
}

/** The charge of a completed job. */
export function costOf({ cost, held }: Job): string {
  return formatUsd(cost ?? held)
}

/** An instant as the contract writes `created`. */
export function unixSeconds(atMs: number): number {
  return Math.floor(atMs / MS_PER_S)
}
