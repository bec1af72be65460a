import type { JobRunner } from '../gateway/media/job-runner.ts'
import type { SettlePorts } from '../gateway/media/settle-job.ts'
import type { JobsPass } from '../gateway/ports/reconcile.ts'
import { archiveResults, type Retention } from './archive-results.ts'
import { loseStaleSubmits } from './lose-stale-submits.ts'
import { pollJobs } from './poll-jobs.ts'
import { recoverSubmits } from './recover-submits.ts'
import { releaseOverdueJobs } from './release-overdue-jobs.ts'
import { sweepBlobs } from './sweep-blobs.ts'
import { watchReleasedJobs } from './watch-released-jobs.ts'

export type ReconcileJobsPorts = SettlePorts & {
  readonly runner: JobRunner
  readonly settings: { readonly unknownSubmitTtlMs: number }
  readonly retention: Retention
}

/**
 * Runs every sweep of media jobs once. What providers know comes before what time decides. A job that a pass releases is watched from
 * the next pass on: its provider was asked a moment ago.
 */
export async function reconcileJobs(
  ports: ReconcileJobsPorts,
  onFailed: (error: unknown) => void,
): Promise<JobsPass> {
  const { clock, settings } = ports
  const { lost } = await loseStaleSubmits({ ...ports, ...settings }, clock.now(), onFailed)
  const { polled, ended } = await pollJobs(ports, clock.now(), onFailed)
  const { recovered } = await recoverSubmits(ports, clock.now(), onFailed)
  const { lateCompletions } = await watchReleasedJobs(ports, clock.now(), onFailed)
  const { released } = await releaseOverdueJobs(ports, clock.now(), onFailed)
  const { archived } = await archiveResults(ports, clock.now(), onFailed)
  const { removed } = await sweepBlobs(ports, clock.now())
  return { lost, polled, ended, recovered, released, lateCompletions, archived, removedFiles: removed }
}
