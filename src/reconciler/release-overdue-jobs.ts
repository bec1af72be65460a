import type { Job } from '../domain/jobs/job.ts'
import { OVERDUE, SUBMIT_UNCONFIRMED } from '../gateway/media/job-failures.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs } from './sweep.ts'

/**
 * Fails jobs whose deadline is over, and releases their money: 15 minutes after an unknown submit, a day after the creation of any
 * other. Safe to run on every node at once: each job fails once.
 */
export async function releaseOverdueJobs(
  { jobs }: { readonly jobs: Jobs },
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly released: number }> {
  const fail = async (job: Job) => {
    const failure = job.state === 'processing' ? OVERDUE : SUBMIT_UNCONFIRMED
    return (await jobs.fail(job.id, { ...failure, atMs: nowMs })).changed
  }
  const { changed } = await sweepJobs({ jobs, work: 'overdue', atMs: nowMs }, fail, onFailed)
  return { released: changed }
}
