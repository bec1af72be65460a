import type { Job } from '../../domain/jobs/job.ts'
import { UpstreamIdTakenError } from '../ports/jobs.ts'
import type { Jobs } from '../ports/jobs.ts'
import { publicId } from './job-id.ts'
import { applyPoll, POLL_TIMEOUT_MS } from './poll-job.ts'
import type { SettlePorts } from './settle-job.ts'

export type RecoverPorts = SettlePorts & { readonly jobs: Jobs }

/**
 * Asks the provider whether it has the job of an unknown submit, by an id that the submit carried. A job that is found goes on as if
 * its submit had been answered. One that is not found waits for its deadline: the submit may still arrive.
 */
export async function recoverJob(job: Job, ports: RecoverPorts): Promise<Job> {
  const provider = ports.catalog.current().providers.get(job.provider)
  const adapter = provider === undefined ? undefined : ports.providerOf(provider)
  if (provider === undefined || adapter?.recover === undefined || job.state !== 'unknown_submit') return job
  const { jobs, clock } = ports
  const found = await adapter.recover({
    jobId: publicId(job),
    kind: job.kind,
    provider,
    model: job.upstreamModel,
    timeoutMs: POLL_TIMEOUT_MS,
    request: job.request,
  })
  if (found.outcome === 'absent') return job
  if (found.outcome === 'unavailable') {
    await jobs.notePoll(job.id, { problem: found.problem, nextPollAtMs: clock.now() })
    return job
  }
  const atMs = clock.now()
  try {
    const accepted = await jobs.accept(job.id, { upstreamId: found.upstreamId, atMs, nextPollAtMs: atMs })
    if (!accepted.changed) return accepted.job
    return applyPoll(accepted.job, found, { provider, adapter }, ports)
  } catch (error) {
    if (error instanceof UpstreamIdTakenError) return job
    throw error
  }
}
