import type { Job } from '../domain/jobs/job.ts'
import { SUBMIT_TIMEOUT_MS } from '../gateway/media/submit-job.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs } from './sweep.ts'

/** Longer than any submit runs: a job that is queued for longer lost its node. */
export const STALE_AFTER_MS = SUBMIT_TIMEOUT_MS + 60_000

/**
 * Moves jobs whose node died during their submit to `unknown_submit`. A submit is never repeated: the provider may have the job. One
 * whose submit was never begun is released at once. Safe to run on every node at once.
 */
export async function loseStaleSubmits(
  { jobs, unknownSubmitTtlMs }: { readonly jobs: Jobs; readonly unknownSubmitTtlMs: number },
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly lost: number }> {
  const lose = async (job: Job) => {
    const isBegun = job.submittedAtMs !== null
    const problem = isBegun
      ? 'The gateway stopped during the submit.'
      : 'The gateway stopped before the submit, so nothing was sent.'
    const deadlineAtMs = isBegun ? nowMs + unknownSubmitTtlMs : nowMs
    return (await jobs.loseSubmit(job.id, { problem, atMs: nowMs, deadlineAtMs })).changed
  }
  const atMs = nowMs - STALE_AFTER_MS
  const { changed } = await sweepJobs({ jobs, work: 'stale_queued', atMs }, lose, onFailed)
  return { lost: changed }
}
