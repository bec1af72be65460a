import type { Provider } from '../../domain/catalog/provider.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { UpstreamIdTakenError } from '../ports/jobs.ts'
import type { MediaProvider, RecoverOutcome } from '../ports/media-provider.ts'
import { bookLateResult } from './book-late-result.ts'
import { acceptedJob } from './poll-job.ts'
import { providerCostOf } from './provider-cost.ts'
import { recoveryCall } from './recover-job.ts'
import type { SettleJobPorts } from './settle-job.ts'

/**
 * Asks the provider about a job whose money was released. True if the provider finished the job and this call booked
 * the loss. Ends the watch if the provider can no longer finish the job.
 */
export async function watchJob(job: Job, ports: SettleJobPorts): Promise<boolean> {
  const provider = ports.catalog.current().providers.get(job.provider)
  const adapter = provider === undefined ? undefined : ports.providerOf(provider)
  if (provider === undefined || adapter === undefined) return false
  const outcome =
    job.upstreamId === null
      ? await find(job, { provider, adapter }, ports)
      : await adapter.poll(acceptedJob(job, job.upstreamId, provider))
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
 * Looks for a job whose submit was never answered, and records the provider's id for it. Undefined if that id belongs
 * to another of our jobs.
 */
async function find(
  job: Job,
  { provider, adapter }: { readonly provider: Provider; readonly adapter: MediaProvider },
  { jobs, clock }: SettleJobPorts,
): Promise<RecoverOutcome | undefined> {
  const found = await adapter.recover?.(recoveryCall(job, provider))
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
