import type { JobRunner } from '../gateway/media/job-runner.ts'
import { askProviders } from './ask-providers.ts'
import type { SweepPorts } from './sweep.ts'

/**
 * Looks for jobs of unknown submits at providers that can be asked, and continues the jobs that are found. Safe to run
 * on every node at once: an upstream id belongs to one job.
 */
export async function recoverSubmits(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'recover'> },
  nowMs: number,
): Promise<{ readonly recovered: number }> {
  const { changed } = await askProviders(ports, { work: 'recover', atMs: nowMs }, async job => {
    const { settled } = await ports.runner.recover(job)
    return { changed: settled.then(now => now.state !== job.state) }
  })
  return { recovered: changed }
}
