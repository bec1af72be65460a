import { mayUseModel } from '../../../domain/accounts/key-access.ts'
import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { MediaModel, Upstream } from '../../../domain/catalog/model.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import type { Job, JobRequest } from '../../../domain/jobs/job.ts'
import type { Params } from '../../../domain/jobs/params.ts'
import type { MediaBody } from '../../../protocol/media/media-body.ts'
import { fieldsWithSize } from '../../../protocol/media/sizes.ts'
import { admitted } from '../../admission/admit-spend.ts'
import type { BooksGuard } from '../../books/books-guard.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Created, Jobs, NewJob } from '../../ports/media/jobs.ts'
import type { MediaProvider } from '../../ports/providers/media-provider.ts'
import { modelNotFound } from '../../admission/callable-model.ts'
import type { JobRunner } from '../work/job-runner.ts'
import type { MediaCall } from './media-call.ts'

export type CreateJobPorts = {
  readonly jobs: Pick<Jobs, 'create' | 'findByKey'>
  readonly guard: Pick<BooksGuard, 'refusalOf'>
  readonly runner: Pick<JobRunner, 'start'>
  readonly clock: Clock
  readonly providerOf: (provider: Provider) => MediaProvider | undefined
}

export type CreateJobSettings = {
  readonly jobTtlMs: number
  /** Reads the `size` of requests, as the OpenAI SDKs send it. */
  readonly isOpenAiMediaOn: boolean
}

type FirstJobPorts = Pick<CreateJobPorts, 'jobs' | 'clock'> & {
  readonly catalog: { current(): Catalog }
  readonly isSandboxOn: boolean
}

/**
 * The job that an earlier request with this idempotency key created, even if the catalog or the balance has changed
 * since. Undefined for a request without a key or with a new one. Throws `idempotency_key_reuse` if the key was used
 * for another request, and `model_not_found` if the API key may not call the model of the job.
 */
export async function firstJob(
  { caller, idempotency, record }: Pick<MediaCall, 'caller' | 'idempotency' | 'record'>,
  { jobs, clock, catalog, isSandboxOn }: FirstJobPorts,
): Promise<Job | undefined> {
  if (idempotency === undefined) return undefined
  const known = await jobs.findByKey(caller.account.id, idempotency.key, clock.now())
  if (known === undefined) return undefined
  if (known.fingerprint !== idempotency.fingerprint) throw keyReused()
  const { kind, model: id } = known.job
  if (!mayUseModel(caller.apiKey.settings, { kind, id }))
    throw modelNotFound(id, { catalog: catalog.current(), caller, isSandboxOn, kind })
  record.isReplay = true
  return known.job
}

/** The job of a request, from what its kind says and from what all jobs have. */
export function newJob(
  { id, jobId, attribution, caller, route, idempotency }: MediaCall,
  {
    model,
    upstream,
    provider,
  }: { readonly model: MediaModel; readonly upstream: Upstream; readonly provider: Provider },
  ofKind: Pick<NewJob, 'kind' | 'request' | 'quote' | 'held'>,
  { nowMs, jobTtlMs }: { readonly nowMs: number; readonly jobTtlMs: number },
): NewJob {
  return {
    id: jobId,
    requestId: id,
    ...attribution,
    ...ofKind,
    accountId: caller.account.id,
    apiKeyId: caller.apiKey.id,
    route,
    model: model.id,
    provider: provider.id,
    upstreamModel: upstream.model,
    createdAtMs: nowMs,
    deadlineAtMs: nowMs + jobTtlMs,
    ...(idempotency !== undefined && { idempotency }),
  }
}

/**
 * Records a job with its money held, and hands it to the runner, which submits it. The job then continues whether or
 * not its client waits. A repeat with the same idempotency key and request gets the first job. Throws
 * `insufficient_balance`, `idempotency_key_reuse`, or `hold_not_recorded` if the store cannot write.
 */
export async function createJob(
  job: NewJob,
  { record }: Pick<MediaCall, 'record'>,
  ports: Pick<CreateJobPorts, 'jobs' | 'guard' | 'runner'>,
): Promise<Job> {
  const created = admitted(await recordJob(job, ports), { amount: job.held }, record)
  switch (created.outcome) {
    case 'created':
      ports.runner.start(created.job)
      return created.job
    case 'repeated':
      record.isReplay = true
      return created.job
    case 'key_reused':
      throw keyReused()
  }
}

async function recordJob(
  job: NewJob,
  { jobs, guard }: Pick<CreateJobPorts, 'jobs' | 'guard'>,
): Promise<Created> {
  try {
    const refusal = guard.refusalOf(job.accountId)
    if (refusal !== undefined) throw refusal
    return await jobs.create(job)
  } catch (error) {
    throw holdNotRecorded(error)
  }
}

/**
 * The fields of a request with its `size` replaced by the fields for which this provider makes it. Throws
 * `invalid_field` for a size that it does not make.
 */
export function fieldsInSize(
  fields: MediaBody['fields'],
  {
    model,
    upstream,
    provider,
    paramsOf,
  }: {
    readonly model: MediaModel
    readonly upstream: Upstream
    readonly provider: Provider
    /** The parameters that the provider gets for these fields. */
    readonly paramsOf: (fields: MediaBody['fields']) => Params
  },
  { providerOf }: Pick<CreateJobPorts, 'providerOf'>,
): MediaBody['fields'] {
  const adapter = providerOf(provider)
  return fieldsWithSize(fields, model, asked =>
    adapter?.sizeOf?.({ kind: model.kind, model: upstream.model, params: paramsOf(asked) }),
  )
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
