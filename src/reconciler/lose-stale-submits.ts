import type { Job } from '../domain/jobs/job.ts'
import { SUBMIT_TIMEOUT_MS } from '../gateway/media/submit-job.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs, type SweepPorts } from './sweep.ts'

/** Longer than any submit takes: a job that is queued for longer has no running submit. */
export const STALE_AFTER_MS = SUBMIT_TIMEOUT_MS + 60_000

/**
 * Moves jobs whose process ended during their submit to `unknown_submit`: those of this node's earlier process at once,
 * those of other nodes when no submit can last as long. A submit is never repeated, because the provider may have the
 * job. A job whose submit never began has its deadline now. Safe to run on every node at once.
 */
export async function loseStaleSubmits(
  ports: SweepPorts & {
    readonly jobs: Pick<Jobs, 'due' | 'loseSubmit'>
    readonly unknownSubmitTtlMs: number
  },
  nowMs: number,
): Promise<{ readonly lost: number }> {
  const lose = async ({ id, submittedAtMs }: Job) => {
    const isBegun = submittedAtMs !== null
    const problem = isBegun
      ? 'The gateway stopped during the submit.'
      : 'The gateway stopped before the submit, so nothing was sent.'
    const deadlineAtMs = isBegun ? nowMs + ports.unknownSubmitTtlMs : nowMs
    return (await ports.jobs.loseSubmit(id, { problem, atMs: nowMs, deadlineAtMs, submittedAtMs })).changed
  }
  const left = await sweepJobs(ports, { work: 'left_queued', atMs: nowMs }, lose)
  const stale = await sweepJobs(ports, { work: 'stale_queued', atMs: nowMs - STALE_AFTER_MS }, lose)
  return { lost: left.changed + stale.changed }
}
