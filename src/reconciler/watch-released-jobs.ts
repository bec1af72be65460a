import type { JobRunner } from '../gateway/media/job-runner.ts'
import { askProviders } from './ask-providers.ts'
import type { SweepPorts } from './sweep.ts'

/**
 * Books the results that providers finished after the job's money was released. Each job is watched for a day. Safe to
 * run on every node at once: a late completion is booked once.
 */
export async function watchReleasedJobs(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'watch'> },
  nowMs: number,
): Promise<{ readonly lateCompletions: number }> {
  const { changed } = await askProviders(ports, { work: 'watch', atMs: nowMs }, async job => {
    const isBooked = await ports.runner.watch(job)
    return { changed: Promise.resolve(isBooked) }
  })
  return { lateCompletions: changed }
}
