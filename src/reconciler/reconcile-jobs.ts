import type { JobRunner } from '../gateway/media/job-runner.ts'
import type { SettleJobPorts } from '../gateway/media/settle-job.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { JobsPass } from '../gateway/ports/reconcile.ts'
import { archiveResults, type Retention } from './archive-results.ts'
import { loseStaleSubmits } from './lose-stale-submits.ts'
import { pollJobs } from './poll-jobs.ts'
import { recoverSubmits } from './recover-submits.ts'
import { releaseOverdueJobs } from './release-overdue-jobs.ts'
import type { SweepPlaces } from './sweep.ts'
import { sweepBlobs } from './sweep-blobs.ts'
import { watchReleasedJobs } from './watch-released-jobs.ts'

export type ReconcileJobsPorts = Pick<SettleJobPorts, 'jobs' | 'blobs' | 'clock'> & {
  readonly runner: JobRunner
  readonly settings: { readonly unknownSubmitTtlMs: number }
  readonly retention: Retention
  readonly places: SweepPlaces
  /** Fires when the gateway stops: the pass then ends at once. */
  readonly stopping: CallerSignal
}

/**
 * Runs every sweep of media jobs once. Providers are asked before deadlines are applied. A job that a pass releases
 * is watched from the next pass on: its provider was asked a moment ago.
 */
export async function reconcileJobs(
  ports: ReconcileJobsPorts,
  onFailed: (error: unknown) => void,
): Promise<JobsPass> {
  const { clock, settings } = ports
  let failed = 0
  const count = () => void (failed += 1)
  // The runner of jobs has already reported the failure.
  const asking = { ...ports, onFailed: count }
  const sweeping = {
    ...ports,
    ...settings,
    onFailed: (error: unknown) => {
      count()
      onFailed(error)
    },
  }
  const { lost } = await loseStaleSubmits(sweeping, clock.now())
  const { polled, ended } = await pollJobs(asking, clock.now())
  const { recovered } = await recoverSubmits(asking, clock.now())
  const { lateCompletions } = await watchReleasedJobs(asking, clock.now())
  const { released } = await releaseOverdueJobs(sweeping, clock.now())
  const { archived } = await archiveResults(sweeping, clock.now())
  const { removed } = await sweepBlobs(sweeping, clock.now())
  return {
    lost,
    polled,
    ended,
    recovered,
    released,
    lateCompletions,
    archived,
    removedFiles: removed,
    failed,
  }
}
