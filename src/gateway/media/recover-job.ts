import type { Provider } from '../../domain/catalog/provider.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { UpstreamIdTakenError } from '../ports/jobs.ts'
import type { UnconfirmedJob } from '../ports/media-provider.ts'
import { publicId } from './job-id.ts'
import { applyPoll, POLL_TIMEOUT_MS, type Polled } from './poll-job.ts'
import type { SettleJobPorts } from './settle-job.ts'

/**
 * Asks the provider whether it has the job of an unknown submit, by an id that the submit carried. A job that is found
 * continues as if its submit had been answered. A job that is not found waits for its deadline, because the submit may
 * still arrive.
 */
export async function recoverJob(job: Job, ports: SettleJobPorts): Promise<Polled> {
  const provider = ports.catalog.current().providers.get(job.provider)
  const adapter = provider === undefined ? undefined : ports.providerOf(provider)
  if (provider === undefined || adapter?.recover === undefined || job.state !== 'unknown_submit')
    return { job }
  const { jobs, clock } = ports
  const found = await adapter.recover(recoveryCall(job, provider))
  const atMs = clock.now()
  const note = async (problem: string) => {
    await jobs.notePoll(job.id, { problem, nextPollAtMs: atMs })
    return { job }
  }
  if (found.outcome === 'absent') return { job }
  if (found.outcome === 'unavailable') return note(found.problem)
  try {
    const accepted = await jobs.accept(job.id, { upstreamId: found.upstreamId, atMs, nextPollAtMs: atMs })
    if (!accepted.changed) return accepted
    return await applyPoll(accepted.job, found, { provider, adapter }, ports)
  } catch (error) {
    if (error instanceof UpstreamIdTakenError)
      return note('The provider named a job that already belongs to another request.')
    throw error
  }
}

export function recoveryCall(job: Job, provider: Provider): UnconfirmedJob {
  return {
    jobId: publicId(job),
    kind: job.kind,
    provider,
    model: job.upstreamModel,
    timeoutMs: POLL_TIMEOUT_MS,
    request: job.request,
  }
}
