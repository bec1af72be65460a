import type { Job } from '../../domain/jobs/job.ts'
import { bookLateResult } from './book-late-result.ts'
import { publicId } from './job-id.ts'
import { acceptedJob, POLL_TIMEOUT_MS } from './poll-job.ts'
import type { SettlePorts } from './settle-job.ts'

/** Asks the provider about a job whose money was released. True where it finished the job after all, and that was booked now. */
export async function watchJob(job: Job, ports: SettlePorts): Promise<boolean> {
  const provider = ports.catalog.current().providers.get(job.provider)
  const adapter = provider === undefined ? undefined : ports.providerOf(provider)
  if (provider === undefined || adapter === undefined) return false
  const outcome =
    job.upstreamId === null
      ? await adapter.recover?.({
          jobId: publicId(job),
          kind: job.kind,
          provider,
          model: job.upstreamModel,
          timeoutMs: POLL_TIMEOUT_MS,
          request: job.request,
        })
      : await adapter.poll(acceptedJob(job, job.upstreamId, provider))
  if (outcome?.outcome !== 'finished') return false
  return bookLateResult(job, outcome.result, ports)
}
