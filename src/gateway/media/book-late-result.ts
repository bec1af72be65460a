import type { Job } from '../../domain/jobs/job.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { MediaResult } from '../ports/media-provider.ts'
import { priceResult } from './price-result.ts'

/**
 * Books the price of a result whose job was released before, once, as a loss, at the job's own tariff. The job and the
 * account's balance do not change. True if this call booked it.
 */
export async function bookLateResult(
  job: Job,
  result: MediaResult,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'bookLateCompletion'>; readonly clock: Clock },
): Promise<boolean> {
  if (result.outputs.length === 0) return false
  const { cost } = priceResult(job, result)
  return jobs.bookLateCompletion(job.id, { cost, atMs: clock.now() })
}
