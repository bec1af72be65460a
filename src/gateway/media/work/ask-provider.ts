import type { Provider } from '../../../domain/catalog/provider.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { UpstreamIdTakenError } from '../../ports/media/jobs.ts'
import type {
  AcceptedJob,
  MediaResult,
  PollOutcome,
  RecoverOutcome,
  UnconfirmedJob,
} from '../../ports/providers/media-provider.ts'
import { failureText, problemText } from './job-failures.ts'
import { publicId } from '../job-id.ts'
import { providerOfJob, type JobProvider } from './provider-of-job.ts'
import { providerCostOf } from '../settle/price-result.ts'
import { bookLateResult, type SettleJobPorts } from '../settle/settle-job.ts'

/** How long a provider may take to answer a poll. */
export const POLL_TIMEOUT_MS = 30_000
/** The maximum wait, even if the provider asks for a longer one, because the job may end and has a deadline. */
const POLL_WAIT_MS_MAX = 300_000
const MS = 1000

/** A job after a poll. It has a `result` if its provider finished it. The job must then still be settled. */
export type Polled = { readonly job: Job; readonly result?: MediaResult }

/** Asks the provider once for the state of a job, and records the answer. A failed poll is not a failed job. */
export async function pollJob(job: Job, ports: SettleJobPorts): Promise<Polled> {
  const { jobs, clock } = ports
  if (job.state !== 'processing' || job.upstreamId === null) return { job }
  const asked = providerOfJob(job, ports)
  if (asked === undefined) {
    const problem = `There is no provider "${job.provider}" in the catalog.`
    const nextPollAtMs = clock.now() + POLL_TIMEOUT_MS
    await jobs.notePoll(job.id, { problem, nextPollAtMs, claimedUntilMs: job.nextPollAtMs })
    return { job }
  }
  const outcome = await asked.adapter.poll(acceptedJob(job, job.upstreamId, asked.provider))
  return applyPoll(job, outcome, asked, ports)
}

/** Records a provider's answer about a job. */
async function applyPoll(
  job: Job,
  outcome: PollOutcome,
  { provider, adapter }: JobProvider,
  ports: SettleJobPorts,
): Promise<Polled> {
  const { jobs, clock } = ports
  const atMs = clock.now()
  const claimedUntilMs = job.nextPollAtMs
  switch (outcome.outcome) {
    case 'running': {
      const { upstreamStatus, isKnownStatus } = outcome
      if (!isKnownStatus) ports.onUnknownStatus(provider.id, upstreamStatus)
      const nextPollAtMs = atMs + adapter.pollEveryMsMin
      await jobs.notePoll(job.id, { upstreamStatus, nextPollAtMs, claimedUntilMs })
      return { job }
    }
    case 'unavailable': {
      const askedMs = Math.min((outcome.retryAfterS ?? 0) * MS, POLL_WAIT_MS_MAX)
      const waitMs = Math.max(adapter.pollEveryMsMin, askedMs)
      await jobs.notePoll(job.id, { problem: outcome.problem, nextPollAtMs: atMs + waitMs, claimedUntilMs })
      return { job }
    }
    case 'finished':
      return { job, result: outcome.result }
    case 'failed': {
      const at = { job, provider }
      const text = {
        ...failureText(outcome, at, ports),
        problem: problemText(outcome.message, at, ports),
      }
      const facts = { ...providerCostOf(job, outcome, ports), atMs }
      const { job: failed } = await jobs.fail(job.id, { reason: 'generation_failed', ...text, ...facts })
      return { job: failed }
    }
  }
}

export function acceptedJob(job: Job, upstreamId: string, provider: Provider): AcceptedJob {
  return {
    jobId: publicId(job),
    kind: job.kind,
    provider,
    model: job.upstreamModel,
    timeoutMs: POLL_TIMEOUT_MS,
    upstreamId,
  }
}

/**
 * Asks the provider whether it has the job of an unknown submission, by an id that the submission carried. A job that
 * is found continues as if its submission had been answered. A job that is not found waits for its deadline, because
 * the submission may still arrive.
 */
export async function recoverJob(job: Job, ports: SettleJobPorts): Promise<Polled> {
  const asked = providerOfJob(job, ports)
  if (asked?.adapter.recover === undefined || job.state !== 'unknown_submit') return { job }
  const { jobs, clock } = ports
  const found = await asked.adapter.recover(unconfirmedJob(job, asked.provider))
  const atMs = clock.now()
  const note = async (problem: string) => {
    await jobs.notePoll(job.id, { problem, nextPollAtMs: atMs, claimedUntilMs: job.nextPollAtMs })
    return { job }
  }
  if (found.outcome === 'absent') return { job }
  if (found.outcome === 'unavailable') return note(found.problem)
  try {
    const accepted = await jobs.accept(job.id, { upstreamId: found.upstreamId, atMs, nextPollAtMs: atMs })
    if (!accepted.changed) return accepted
    return await applyPoll(accepted.job, found, asked, ports)
  } catch (error) {
    if (error instanceof UpstreamIdTakenError)
      return note('The provider named a job that already belongs to another request.')
    throw error
  }
}

function unconfirmedJob(job: Job, provider: Provider): UnconfirmedJob {
  return {
    jobId: publicId(job),
    kind: job.kind,
    provider,
    model: job.upstreamModel,
    timeoutMs: POLL_TIMEOUT_MS,
    request: job.request,
  }
}

/**
 * Asks the provider about a job whose money was released. True if the provider finished the job and this call booked
 * the loss. Ends the watch if the provider can no longer finish the job.
 */
export async function watchJob(job: Job, ports: SettleJobPorts): Promise<boolean> {
  const asked = providerOfJob(job, ports)
  if (asked === undefined) return false
  const outcome =
    job.upstreamId === null
      ? await findSubmission(job, asked, ports)
      : await asked.adapter.poll(acceptedJob(job, job.upstreamId, asked.provider))
  if (outcome?.outcome === 'finished' && outcome.result.outputs.length > 0)
    return bookLateResult(job, outcome.result, ports)
  if (outcome?.outcome === 'finished' || outcome?.outcome === 'failed') {
    const detail = 'The provider could not finish the job.'
    const billed = outcome.outcome === 'finished' ? outcome.result : outcome
    const facts = { ...providerCostOf(job, billed, ports), atMs: ports.clock.now() }
    await ports.jobs.endWatch(job.id, { detail, ...facts })
  }
  return false
}

/**
 * Looks for a job whose submission was never answered, and records the provider's id for it. Undefined if that id
 * belongs to another of our jobs.
 */
async function findSubmission(
  job: Job,
  { provider, adapter }: JobProvider,
  { jobs, clock }: SettleJobPorts,
): Promise<RecoverOutcome | undefined> {
  const found = await adapter.recover?.(unconfirmedJob(job, provider))
  if (found === undefined || !('upstreamId' in found)) return undefined
  const atMs = clock.now()
  try {
    await jobs.accept(job.id, { upstreamId: found.upstreamId, atMs, nextPollAtMs: atMs })
    return found
  } catch (error) {
    if (error instanceof UpstreamIdTakenError) return undefined
    throw error
  }
}
