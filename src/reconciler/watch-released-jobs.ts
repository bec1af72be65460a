import { watchJob } from '../gateway/media/watch-job.ts'
import type { SettlePorts } from '../gateway/media/settle-job.ts'
import { sweepJobs } from './sweep.ts'

/**
 * Books what providers finished after its money had been released. Each job is watched for a day. Safe to run on every node at once: a
 * late end is booked once.
 */
export async function watchReleasedJobs(
  ports: SettlePorts,
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly lateCompletions: number }> {
  const { changed } = await sweepJobs(
    { jobs: ports.jobs, work: 'watch', atMs: nowMs },
    job => watchJob(job, ports),
    onFailed,
  )
  return { lateCompletions: changed }
}
