import type { JobRunner } from '../gateway/media/job-runner.ts'
import { PROVIDERS_MS_MAX, sweepJobs, type SweepPorts } from './sweep.ts'

/**
 * Looks for jobs of unknown submits at providers that can be asked, and goes on with those that are found. Safe to run
 * on every node at once: an upstream id belongs to one job.
 */
export async function recoverSubmits(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'recover'> },
  nowMs: number,
): Promise<{ readonly recovered: number }> {
  const recover = { work: 'recover', atMs: nowMs, limitMs: PROVIDERS_MS_MAX } as const
  const { changed } = await sweepJobs(
    ports,
    recover,
    async job => (await ports.runner.recover(job)).state !== job.state,
  )
  return { recovered: changed }
}
