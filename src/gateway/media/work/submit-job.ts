import type { Job, JobInput } from '../../../domain/jobs/job.ts'
import type { ByteBudget, Reservation } from '../../byte-budgets/byte-budget.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import { pause, type Clock } from '../../ports/clock.ts'
import { UpstreamIdTakenError, type Failed, type Jobs } from '../../ports/media/jobs.ts'
import type { MediaInput, SubmitOutcome } from '../../ports/providers/media-provider.ts'
import { fetchInputs, hasLinks, type FetchInputsPorts } from './fetch-inputs.ts'
import { publicId } from '../job-id.ts'
import { ID_TAKEN, NO_PROVIDER, SOURCE_DELETED, rejectionFailure } from './job-failures.ts'
import { providerOfJob, type JobProvider } from './provider-of-job.ts'
import { providerCostOf } from '../settle/price-result.ts'
import { sourceClip, type SourceClip } from './source-job.ts'
import { settleJob, type SettleJobPorts } from '../settle/settle-job.ts'

/** A synchronous provider makes the result during the call, which can take minutes. */
export const SUBMIT_TIMEOUT_MS = 600_000

/** How often recording the answer to a submission is tried: for five minutes. */
const RECORD_TRIES = 60
const RECORD_AGAIN_MS = 5000

/** The status of a provider that waited too long for the request. Like any 4xx it is a rejection. */
const REQUEST_TIMEOUT = 408

/** The answer to a submission, and the provider it came from. */
type Answer = JobProvider & { readonly outcome: SubmitOutcome }

export type SubmitPorts = SettleJobPorts &
  FetchInputsPorts & {
    readonly jobs: Jobs
    readonly blobs: Blobs
    readonly clock: Clock
    /** The disk space for inputs. Its owners are accounts. */
    readonly inputSpool: ByteBudget
  }

/** How long the money of a job is held after its submission got no answer. */
export type SubmitSettings = { readonly unknownSubmitTtlMs: number }

/**
 * Submits a job, once. Fetches the links among the inputs of a video job first. The submission is marked durably before
 * its first byte is sent. A job whose submission is already marked is not submitted again. Resolves with the job after
 * the submission.
 */
export async function submitJob(job: Job, ports: SubmitPorts, settings: SubmitSettings): Promise<Job> {
  const space = ports.inputSpool.open(job.accountId)
  try {
    return await fetchAndSubmit(job, space, ports, settings)
  } finally {
    space.release()
  }
}

async function fetchAndSubmit(
  job: Job,
  space: Reservation,
  ports: SubmitPorts,
  settings: SubmitSettings,
): Promise<Job> {
  const { jobs, clock } = ports
  const asked = providerOfJob(job, ports)
  // The row was deleted between the job's creation and here. Nothing was sent.
  if (asked === undefined) return fail(job, NO_PROVIDER, ports)
  const { refJobId } = job.request
  const source = refJobId === undefined ? undefined : await sourceClip(job, asked, ports)
  if (refJobId !== undefined && source === undefined) return fail(job, SOURCE_DELETED, ports)
  const fetched = hasLinks(job.request) ? await fetchInputs(job, asked.provider, ports, space) : undefined
  if (fetched?.outcome === 'refused') return fail(job, fetched.failure, ports)
  // The mark stores the fetched inputs too. They need no separate step: after a crash before the mark, the job is
  // released and never submitted, and its files are removed as orphans.
  const begun = await jobs.beginSubmit(job.id, clock.now(), fetched?.inputs)
  if (!begun.changed) return begun.job
  const outcome = await callProvider(begun.job, { ...asked, source }, ports)
  return recordAnswer(begun.job, { ...asked, outcome }, ports, settings)
}

/** An adapter throws only if it has a bug. Bytes may have been sent before. */
async function callProvider(
  { request: { refJobId: _sent, ...request }, ...job }: Job,
  { provider, adapter, source }: JobProvider & { readonly source: SourceClip | undefined },
  { blobs, onFailed }: SubmitPorts,
): Promise<SubmitOutcome> {
  try {
    return await adapter.submit({
      jobId: publicId(job),
      kind: job.kind,
      provider,
      model: job.upstreamModel,
      timeoutMs: SUBMIT_TIMEOUT_MS,
      ...request,
      images: request.images.map(input => mediaInput(input, blobs)),
      videos: [...sourceInputs(source, blobs), ...request.videos.map(input => mediaInput(input, blobs))],
    })
  } catch (error) {
    onFailed(error)
    return { outcome: 'unknown', problem: 'The submission failed inside the gateway.' }
  }
}

/**
 * Records an answer. Until that has succeeded, the answer is in memory only, so a store that cannot be written is tried
 * again for a while. Each try is safe to repeat.
 */
async function recordAnswer(
  job: Job,
  answer: Answer,
  ports: SubmitPorts,
  settings: SubmitSettings,
): Promise<Job> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await applyAnswer(job, answer, ports, settings)
    } catch (error) {
      if (tries === RECORD_TRIES) throw error
      ports.onFailed(error)
    }
    await pause(ports.clock, RECORD_AGAIN_MS)
  }
}

async function applyAnswer(
  job: Job,
  { outcome, provider, adapter }: Answer,
  ports: SubmitPorts,
  { unknownSubmitTtlMs }: SubmitSettings,
): Promise<Job> {
  const { jobs, clock } = ports
  const atMs = clock.now()
  switch (outcome.outcome) {
    case 'accepted':
      return accept(
        job,
        { upstreamId: outcome.upstreamId, nextPollAtMs: atMs + adapter.pollEveryMsMin },
        ports,
      )
    case 'finished':
      return settleJob(job, outcome.result, ports)
    case 'rejected':
      return fail(
        job,
        {
          ...rejectionFailure(outcome, { job, provider }, ports),
          ...providerCostOf(job, outcome, ports),
          timedOut: outcome.status === REQUEST_TIMEOUT,
        },
        ports,
      )
    case 'unknown': {
      const deadlineAtMs = atMs + unknownSubmitTtlMs
      return (await jobs.loseSubmit(job.id, { problem: outcome.problem, atMs, deadlineAtMs })).job
    }
    case 'not_sent':
      // Released at the reconciler's next pass.
      return (await jobs.loseSubmit(job.id, { problem: outcome.problem, atMs, deadlineAtMs: atMs })).job
  }
}

/** The provider answered with the id of another job, so this job cannot be polled. */
async function accept(
  job: Job,
  { upstreamId, nextPollAtMs }: { readonly upstreamId: string; readonly nextPollAtMs: number },
  ports: SubmitPorts,
): Promise<Job> {
  try {
    return (await ports.jobs.accept(job.id, { upstreamId, nextPollAtMs, atMs: ports.clock.now() })).job
  } catch (error) {
    if (!(error instanceof UpstreamIdTakenError)) throw error
    return fail(job, ID_TAKEN, ports)
  }
}

async function fail(job: Job, failure: Omit<Failed, 'atMs'>, { jobs, clock }: SubmitPorts): Promise<Job> {
  return (await jobs.fail(job.id, { ...failure, atMs: clock.now() })).job
}

function sourceInputs(source: SourceClip | undefined, blobs: Blobs): readonly MediaInput[] {
  if (source === undefined) return []
  return [source.link ?? mediaInput({ from: 'file', file: source.clip }, blobs)]
}

function mediaInput(input: JobInput, blobs: Blobs): MediaInput {
  if (input.from !== 'file') return input
  const { key, bytes, mediaType } = input.file
  return {
    from: 'bytes',
    bytes,
    mediaType,
    async open() {
      const blob = await blobs.read(key)
      if (blob === undefined) throw new Error(`The input ${key} is not in the blob store.`)
      return blob.stream
    },
  }
}
