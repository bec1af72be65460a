import type { Job } from '../domain/jobs/job.ts'
import { OVERDUE, SUBMIT_UNCONFIRMED } from '../gateway/media/job-failures.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs, type SweepPorts } from './sweep.ts'

/**
 * Fails jobs whose deadline is over, and releases their money: 15 minutes after an unknown submit, a day after the
 * creation of any other. Safe to run on every node at once: each job fails once, and not if it has been found.
 */
export async function releaseOverdueJobs(
  ports: SweepPorts & { readonly jobs: Pick<Jobs, 'due' | 'fail'> },
  nowMs: number,
): Promise<{ readonly released: number }> {
  const fail = async ({ id, state, deadlineAtMs }: Job) => {
    const failure = state === 'processing' ? OVERDUE : SUBMIT_UNCONFIRMED
    return (await ports.jobs.fail(id, { ...failure, deadlineAtMs, atMs: nowMs })).changed
  }
  const { changed } = await sweepJobs(ports, { work: 'overdue', atMs: nowMs }, fail)
  return { released: changed }
}
