import type { JobRunner } from '../gateway/media/job-runner.ts'
import { PROVIDERS_MS_MAX, sweepJobs, type SweepPorts } from './sweep.ts'

/**
 * Asks providers how their running jobs are, and settles those that have ended. Leaves out jobs that this node works on
 * already. Safe to run on every node at once.
 */
export async function pollJobs(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'poll' | 'isRunning'> },
  nowMs: number,
): Promise<{ readonly polled: number; readonly ended: number }> {
  const { runner } = ports
  let polled = 0
  const { changed } = await sweepJobs(
    ports,
    { work: 'poll', atMs: nowMs, limitMs: PROVIDERS_MS_MAX },
    async job => {
      if (runner.isRunning(job.id)) return false
      polled += 1
      return (await runner.poll(job)).state !== job.state
    },
  )
  return { polled, ended: changed }
}
