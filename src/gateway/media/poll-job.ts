import type { Provider } from '../../domain/catalog/provider.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { AcceptedJob, MediaProvider, MediaResult, PollOutcome } from '../ports/media-provider.ts'
import { failureText } from './job-failures.ts'
import { publicId } from './job-id.ts'
import { providerCostOf } from './provider-cost.ts'
import type { SettleJobPorts } from './settle-job.ts'

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
  const provider = ports.catalog.current().providers.get(job.provider)
  const adapter = provider === undefined ? undefined : ports.providerOf(provider)
  if (provider === undefined || adapter === undefined) {
    const problem = `There is no provider "${job.provider}" in the catalog.`
    await jobs.notePoll(job.id, { problem, nextPollAtMs: clock.now() + POLL_TIMEOUT_MS })
    return { job }
  }
  const outcome = await adapter.poll(acceptedJob(job, job.upstreamId, provider))
  return applyPoll(job, outcome, { provider, adapter }, ports)
}

/** Records a provider's answer about a job. */
export async function applyPoll(
  job: Job,
  outcome: PollOutcome,
  { provider, adapter }: { readonly provider: Provider; readonly adapter: MediaProvider },
  ports: SettleJobPorts,
): Promise<Polled> {
  const { jobs, clock } = ports
  const atMs = clock.now()
  switch (outcome.outcome) {
    case 'running': {
      const { upstreamStatus, isKnownStatus } = outcome
      if (!isKnownStatus) ports.onUnknownStatus(provider.id, upstreamStatus)
      await jobs.notePoll(job.id, { upstreamStatus, nextPollAtMs: atMs + adapter.pollEveryMsMin })
      return { job }
    }
    case 'unavailable': {
      const askedMs = Math.min((outcome.retryAfterS ?? 0) * MS, POLL_WAIT_MS_MAX)
      const waitMs = Math.max(adapter.pollEveryMsMin, askedMs)
      await jobs.notePoll(job.id, { problem: outcome.problem, nextPollAtMs: atMs + waitMs })
      return { job }
    }
    case 'finished':
      return { job, result: outcome.result }
    case 'failed': {
      const text = failureText(outcome, provider, ports)
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
