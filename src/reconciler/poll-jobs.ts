import type { JobRunner } from '../gateway/media/job-runner.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs } from './sweep.ts'

/** Asks providers how their running jobs are, and settles those that have ended. Safe to run on every node at once. */
export async function pollJobs(
  { jobs, runner }: { readonly jobs: Jobs; readonly runner: JobRunner },
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly polled: number; readonly ended: number }> {
  const { seen, changed } = await sweepJobs(
    { jobs, work: 'poll', atMs: nowMs },
    async job => (await runner.poll(job)).state !== job.state,
    onFailed,
  )
  return { polled: seen, ended: changed }
}
