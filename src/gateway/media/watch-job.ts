import type { Provider } from '../../domain/catalog/provider.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { UpstreamIdTakenError } from '../ports/jobs.ts'
import type { MediaProvider, RecoverOutcome } from '../ports/media-provider.ts'
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
      ? await find(job, { provider, adapter }, ports)
      : await adapter.poll(acceptedJob(job, job.upstreamId, provider))
  if (outcome?.outcome !== 'finished') return false
  return bookLateResult(job, outcome.result, ports)
}

/** Looks for a job whose submit was never answered, and notes the provider's id of it. Undefined where it is another job of ours. */
async function find(
  job: Job,
  { provider, adapter }: { readonly provider: Provider; readonly adapter: MediaProvider },
  { jobs, clock }: SettlePorts,
): Promise<RecoverOutcome | undefined> {
  const found = await adapter.recover?.({
    jobId: publicId(job),
    kind: job.kind,
    provider,
    model: job.upstreamModel,
    timeoutMs: POLL_TIMEOUT_MS,
    request: job.request,
  })
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
