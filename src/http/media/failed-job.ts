import type { ErrorType } from '../../domain/errors.ts'
import type { FailureReason, Job } from '../../domain/jobs/job.ts'
import { publicId } from '../../gateway/media/job-id.ts'

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

export function failureStatus(reason: FailureReason): number {
  return replyTo[reason].status
}

/** The `error` of a failed job: the provider's code if it gave one, and its message without hosts and keys. */
export function failureError({ failure }: Pick<Job, 'failure'>): object {
  if (failure === null) return { message: 'The job failed.', type: 'generation_error' }
  const { reason, code, message } = failure
  return { message, type: replyTo[reason].type, ...(code === undefined ? {} : { code }) }
}

/** The whole body, for the request that created the job. */
export function failureBody(job: Job): object {
  return { error: failureError(job), id: publicId(job), cost_usd: '0' }
}
