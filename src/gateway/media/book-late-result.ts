import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { MediaResult } from '../ports/media-provider.ts'
import { priceResult } from './price-result.ts'
import { providerCostOf } from './provider-cost.ts'

/**
 * Books the price of a result whose job was released before, once, as a loss, at the job's own tariff. The job and the
 * account's balance do not change. True if this call booked it.
 */
export async function bookLateResult(
  job: Job,
  result: MediaResult,
  ports: {
    readonly jobs: Pick<Jobs, 'bookLateCompletion'>
    readonly clock: Clock
    readonly catalog: { current(): Catalog }
  },
): Promise<boolean> {
  if (result.outputs.length === 0) return false
  const { cost } = priceResult(job, result)
  const facts = { ...providerCostOf(job, result, ports), atMs: ports.clock.now() }
  return ports.jobs.bookLateCompletion(job.id, { cost, ...facts })
}
