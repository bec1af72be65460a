import type { JobRunner } from '../gateway/media/job-runner.ts'
import { askProviders } from './ask-providers.ts'
import type { SweepPorts } from './sweep.ts'

/**
 * Asks providers for the states of their running jobs, and settles jobs that have ended. Starts the fetch of a large
 * result and does not wait for it. Skips jobs that this node already works on. Safe to run on every node at once.
 */
export async function pollJobs(
  ports: SweepPorts & { readonly runner: Pick<JobRunner, 'ask' | 'isRunning'> },
  nowMs: number,
): Promise<{ readonly polled: number; readonly ended: number }> {
  const { runner } = ports
  let skipped = 0
  const { seen, changed } = await askProviders(ports, { work: 'poll', atMs: nowMs }, async job => {
    if (runner.isRunning(job.id)) {
      skipped += 1
      return { changed: Promise.resolve(false) }
    }
    const { settled } = await runner.ask(job)
    return { changed: settled.then(now => now.state !== job.state) }
  })
  return { polled: seen - skipped, ended: changed }
}
