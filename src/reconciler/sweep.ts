import type { Job } from '../domain/jobs/job.ts'
import type { Jobs, JobWork } from '../gateway/ports/jobs.ts'

/** Jobs of one kind of work that a pass looks at; the rest waits for the next pass. */
export const SWEEP_JOBS_MAX = 10_000
/** Jobs read at a time. */
const PAGE = 200
/** Jobs worked on at a time: each may have a call to a provider under way. */
const CONCURRENCY = 16

/**
 * Does `work` for the jobs that need it at an instant, page by page, a few at a time. A job whose work fails is reported and does not
 * keep the others. Resolves with how many were worked on, and how many of them `work` said it had changed.
 */
export async function sweepJobs(
  { jobs, work, atMs }: { readonly jobs: Jobs; readonly work: JobWork; readonly atMs: number },
  change: (job: Job) => Promise<boolean>,
  onFailed: (error: unknown) => void,
): Promise<{ readonly seen: number; readonly changed: number }> {
  let seen = 0
  let changed = 0
  let after: string | undefined
  while (seen < SWEEP_JOBS_MAX) {
    const page = await jobs.due(work, { atMs, limit: PAGE, ...(after === undefined ? {} : { after }) })
    seen += page.jobs.length
    const queue = page.jobs.values()
    await Promise.all(Array.from({ length: CONCURRENCY }, () => drain(queue)))
    if (page.next === undefined) break
    after = page.next
  }
  return { seen, changed }

  async function drain(queue: IterableIterator<Job>): Promise<void> {
    for (const job of queue) {
      try {
        if (await change(job)) changed += 1
      } catch (error) {
        onFailed(error)
      }
    }
  }
}
