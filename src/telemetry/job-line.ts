import type { Job } from '../domain/jobs/job.ts'
import { formatUsd } from '../domain/money.ts'
import { publicId } from '../gateway/media/job-id.ts'
import { isClientFault } from '../gateway/media/create/media-call.ts'
import type { LogFields, LogLevel } from './log.ts'

/** The fields of the log line of a job, without the prompt. */
export function jobLine(job: Job): LogFields {
  const { state, failure, cost, loss } = job
  const hasProblem = state === 'unknown_submit' || state === 'failed'
  return {
    job_id: publicId(job),
    state,
    route: job.route,
    model: job.model,
    provider: job.provider,
    upstream_id: job.upstreamId ?? undefined,
    age_ms: job.changedAtMs - job.createdAtMs,
    reason: failure?.reason,
    error_code: failure?.code,
    problem: (hasProblem ? job.problem : null) ?? failure?.message,
    held_usd: state === 'completed' || state === 'failed' ? undefined : formatUsd(job.held),
    cost_usd: cost === null ? undefined : formatUsd(cost),
    loss_usd: loss === null ? undefined : formatUsd(loss),
  }
}

/**
 * The level of the line of a job: `warn` for a fault of its provider. A submission that it rejects is the client's
 * fault.
 */
export function jobLevel({ state, failure }: Pick<Job, 'state' | 'failure'>): LogLevel {
  if (state === 'unknown_submit') return 'warn'
  return failure !== null && !isClientFault({ failure }) ? 'warn' : 'info'
}
