import type { FailureReason, Job } from './job.ts'

/** How long a job whose money was released is watched for a late end at its provider. */
const WATCH_MS = 86_400_000

/** The provider may have the job, and may finish it. */
const mayBeFinished: ReadonlySet<FailureReason> = new Set(['submit_unconfirmed', 'overdue', 'no_job_id'])

/**
 * How long a failed job is watched. Null if its provider can no longer finish it, because it refused the job, ended it,
 * or never got it. `timedOut` if the provider refused the submission because it took too long: it may have the job.
 */
export function releaseWatchMs(
  reason: FailureReason,
  { isSubmitted, timedOut = false }: { readonly isSubmitted: boolean; readonly timedOut?: boolean },
): number | null {
  return isSubmitted && (timedOut || mayBeFinished.has(reason)) ? WATCH_MS : null
}

/** Whether a late end of the job at its provider is still waited for. A watch ends once. */
export function isWatched({ watchUntilMs }: Pick<Job, 'watchUntilMs'>, atMs: number): boolean {
  return watchUntilMs !== null && watchUntilMs > atMs
}

/**
 * Whether the provider may still name the job, whose money was released before it did. The job stays failed, and is
 * then watched under the provider's id.
 */
export function mayBeAcceptedLate({
  state,
  watchUntilMs,
  upstreamId,
}: Pick<Job, 'state' | 'watchUntilMs' | 'upstreamId'>): boolean {
  return state === 'failed' && watchUntilMs !== null && upstreamId === null
}
