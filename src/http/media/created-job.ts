import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { jsonReply } from '../request-context.ts'
import { failureBody, failureStatus } from './failed-job.ts'

/** Money may have moved or a repeat cannot help, so client libraries must not send the request again by themselves. */
const NO_RETRY = { 'x-should-retry': 'false' }

const MS = 1000

/** An instant as the contract writes `created`. */
export function unixSeconds(atMs: number): number {
  return Math.floor(atMs / MS)
}

/** The facts that the reply to a request depends on, besides its job. */
export type Creation = {
  /** Whether it has an idempotency key. */
  readonly isRepeatable: boolean
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
  return jsonReply(failureStatus(reason), failureBody(job), headers)
}

/**
 * The reply to a request whose job has no result, or none yet: 202, or the error of the job.
 */
export function unfinishedReply(job: Job, creation: Creation, own: object = {}) {
  if (job.state === 'failed') return failedReply(job, creation)
  const id = publicId(job)
  const estimate = { estimated_cost_usd: formatUsd(job.held) }
  if (job.state === 'unknown_submit') {
    const error = {
      message:
        'The provider did not confirm the job. The gateway is looking for the job, and the reserve stays held until then.',
      type: 'upstream_error',
      code: 'unknown_submit',
    }
    return jsonReply(502, { error, id, status: 'unknown_submit', ...estimate }, NO_RETRY)
  }
  return jsonReply(202, { id, status: 'processing', ...own, ...estimate })
}
