import { GatewayError } from '../../domain/errors.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs, NewJob } from '../ports/jobs.ts'
import type { JobRunner } from './job-runner.ts'
import type { MediaCall } from './media-call.ts'

export type CreateJobPorts = {
  readonly jobs: Pick<Jobs, 'create'>
  readonly runner: JobRunner
  readonly clock: Clock
}

/**
 * Records a job with its money held, and hands it to the runner, which submits it. The job then goes on whether or not its client
 * waits. A repeat with the same idempotency key and request gets the first job. Throws `insufficient_balance`,
 * `idempotency_key_reuse`, or `hold_not_recorded` where the store cannot write.
 */
export async function createJob(
  job: NewJob,
  { trace }: Pick<MediaCall, 'trace'>,
  { jobs, runner }: CreateJobPorts,
): Promise<Job> {
  const created = await jobs.create(job).catch((cause: unknown) => {
    throw holdNotRecorded(cause)
  })
  switch (created.outcome) {
    case 'created':
      trace.held = created.job.held
      runner.start(created.job)
      return created.job
    case 'repeated':
      trace.isReplay = true
      return created.job
    case 'key_reused':
      throw new GatewayError(
        'idempotency_key_reuse',
        'This idempotency key was used for another request. Use a new key for a new request.',
      )
    case 'refused':
      throw new GatewayError(
        'insufficient_balance',
        `This job reserves ${formatUsd(job.held)} USD, and ${formatUsd(created.available)} USD is available. Add funds.`,
        {
          beside: {
            required_usd: formatUsd(job.held),
            available_usd: formatUsd(created.available),
            held_usd: formatUsd(created.held),
          },
        },
      )
  }
}

/** No money was taken. Whether the store can be written again is for the client to find out. */
function holdNotRecorded(cause: unknown): Error {
  if (cause instanceof GatewayError && cause.code !== 'unavailable') return cause
  return new GatewayError(
    'unavailable',
    'The reserve for this job could not be recorded. Try again shortly.',
    {
      beside: { cost_usd: '0' },
      cause,
    },
  )
}
