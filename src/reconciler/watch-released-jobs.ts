import type { JobRunner } from '../gateway/media/job-runner.ts'
import { PROVIDERS_MS_MAX, sweepJobs, type SweepPorts } from './sweep.ts'

/**
 * Books what providers finished after its money had been released. Each job is watched for a day. Safe to run on every
 * node at once: a late completion is booked once.
 */
export async function watchReleasedJobs(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'watch'> },
  nowMs: number,
): Promise<{ readonly lateCompletions: number }> {
  const watch = { work: 'watch', atMs: nowMs, limitMs: PROVIDERS_MS_MAX } as const
  const { changed } = await sweepJobs(ports, watch, job => ports.runner.watch(job))
  return { lateCompletions: changed }
}
