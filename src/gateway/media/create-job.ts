import { GatewayError } from '../../domain/errors.ts'
import type { MediaModel } from '../../domain/catalog/model.ts'
import type { Job, JobRequest } from '../../domain/jobs/job.ts'
import { admitSpend } from '../admission/admit-spend.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs, NewJob } from '../ports/jobs.ts'
import type { JobRunner } from './job-runner.ts'
import type { MediaCall } from './media-call.ts'

export type CreateJobPorts = {
  readonly jobs: Pick<Jobs, 'create' | 'findByKey'>
  readonly runner: Pick<JobRunner, 'start'>
  readonly clock: Clock
}

export type CreateJobSettings = {
  readonly jobTtlMs: number
  /** Reads the `size` of requests, as the OpenAI SDKs send it. */
  readonly isOpenAiMediaOn: boolean
}

/**
 * The job that an earlier request with this idempotency key created, even if the catalog or the balance has changed
 * since. Undefined for a request without a key or with a new one. Throws `idempotency_key_reuse` if the key was used
 * for another request.
 */
export async function firstJob(
  { caller, idempotency, record }: Pick<MediaCall, 'caller' | 'idempotency' | 'record'>,
  { jobs, clock }: CreateJobPorts,
): Promise<Job | undefined> {
  if (idempotency === undefined) return undefined
  const known = await jobs.findByKey(caller.account.id, idempotency.key, clock.now())
  if (known === undefined) return undefined
  if (known.fingerprint !== idempotency.fingerprint) throw keyReused()
  record.isReplay = true
  return known.job
}

/**
 * Records a job with its money held, and hands it to the runner, which submits it. The job then continues whether or
 * not its client waits. A repeat with the same idempotency key and request gets the first job. Throws
 * `insufficient_balance`, `idempotency_key_reuse`, or `hold_not_recorded` if the store cannot write.
 */
export async function createJob(
  job: NewJob,
  { record }: Pick<MediaCall, 'record'>,
  { jobs, runner }: CreateJobPorts,
): Promise<Job> {
  const created = await admitSpend({ amount: job.held }, () =>
    jobs.create(job).catch((cause: unknown) => {
      throw holdNotRecorded(cause)
    }),
  )
  switch (created.outcome) {
    case 'created':
      runner.start(created.job)
      return created.job
    case 'repeated':
      record.isReplay = true
      return created.job
    case 'key_reused':
      throw keyReused()
  }
}

/** The formats that a row adds. They are kept with the job, so a later edit of the row does not change it. */
export function outputTypesOfRow({ outputTypes }: MediaModel): Pick<JobRequest, 'outputTypes'> {
  return outputTypes === undefined ? {} : { outputTypes }
}

function keyReused(): GatewayError {
  return new GatewayError(
    'idempotency_key_reuse',
    'This idempotency key was used for another request. Use a new key for a new request.',
    { shouldRetry: false },
  )
}

/** No money was taken. The client may retry: the store may be writable again by then. */
function holdNotRecorded(cause: unknown): Error {
  if (cause instanceof GatewayError && cause.code !== 'unavailable') return cause
  return new GatewayError(
    'unavailable',
    'The reserve for this job could not be recorded. Try again shortly.',
    {
      extensions: { cost_usd: '0' },
      retryAfter: '5',
      cause,
    },
  )
}
