import type { Job } from '../../domain/jobs/job.ts'
import { publicId } from './job-id.ts'
import { acceptedJob, POLL_TIMEOUT_MS } from './poll-job.ts'
import { priceResult } from './price-result.ts'
import type { SettlePorts } from './settle-job.ts'

/**
 * Asks the provider about a job whose money was released. Where the provider finished it after all, its price at the job's own
 * tariff is booked as a loss, once; the job and the account's balance stay as they are. True where it was booked now.
 */
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
  const { result } = outcome
  if (result.outputs.length === 0) return false
  const { cost } = priceResult(job, result)
  return ports.jobs.bookLateCompletion(job.id, { cost, atMs: ports.clock.now() })
}
