import type { Job } from '../domain/jobs/job.ts'
import { OVERDUE, SUBMIT_UNCONFIRMED } from '../gateway/media/work/job-failures.ts'
import type { JobRunner } from '../gateway/media/work/job-runner.ts'
import type { SettleJobPorts } from '../gateway/media/settle/settle-job.ts'
import { SUBMIT_TIMEOUT_MS, type SubmitSettings } from '../gateway/media/work/submit-job.ts'
import type { Blobs } from '../gateway/ports/media/blobs.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { Jobs } from '../gateway/ports/media/jobs.ts'
import type { JobsPass } from '../gateway/ports/ledger/reconcile.ts'
import { sweepBlobs } from './sweep-blobs.ts'
import { askProviders, sweepJobs, type SweepPlaces, type SweepPorts } from './sweep.ts'

/** Longer than any submission takes: a job that is queued for longer has no running submission. */
export const STALE_AFTER_MS = SUBMIT_TIMEOUT_MS + 60_000

/** The time for the results of each kind. The next pass continues with the rest. */
const ARCHIVE_MS_MAX = 5000

/** Without a retention, a result is kept this long all the same: the client that waited for it reads it now. */
const KEPT_MS_MIN = 1000

export type ReconcileJobsPorts = Pick<SettleJobPorts, 'jobs' | 'blobs' | 'clock'> & {
  readonly runner: JobRunner
  readonly places: SweepPlaces
  /** Fires when the gateway stops: the pass then ends at once. */
  readonly stopping: CallerSignal
}

export type ReconcileJobsSettings = SubmitSettings & { readonly retention: Retention }

/** How long results are kept; null for a kind whose results are never archived. */
export type Retention = { readonly imageMs: number; readonly videoMs: number | null }

/**
 * Runs every sweep of media jobs once. Providers are asked before deadlines are applied. A job that a pass releases
 * is watched from the next pass on: its provider was asked a moment ago.
 */
export async function reconcileJobs(
  ports: ReconcileJobsPorts,
  settings: ReconcileJobsSettings,
  onFailed: (error: unknown) => void,
): Promise<JobsPass> {
  const { clock } = ports
  let failed = 0
  const count = () => void (failed += 1)
  // The runner of jobs has already reported the failure.
  const asking = { ...ports, onFailed: count }
  const sweeping = {
    ...ports,
    onFailed: (error: unknown) => {
      count()
      onFailed(error)
    },
  }
  const { lost } = await loseStaleSubmissions(sweeping, settings, clock.now())
  const { polled, ended } = await pollJobs(asking, clock.now())
  const { recovered } = await recoverSubmissions(asking, clock.now())
  const { lateCompletions } = await watchReleasedJobs(asking, clock.now())
  const { released } = await releaseOverdueJobs(sweeping, clock.now())
  const { archived } = await archiveResults(sweeping, settings, clock.now())
  const { removed } = await sweepBlobs(sweeping, clock.now()).catch((error: unknown) => {
    // The files can be out of reach. The rest of the pass is done, and the next one continues with them.
    sweeping.onFailed(error)
    return { removed: 0 }
  })
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

/**
 * Moves jobs whose process ended during their submission to `unknown_submit`: at once if the store knows that it ended,
 * and otherwise when no submission can last as long. A submission is never repeated, because the provider
 * may have the job. A job whose submission never began has its deadline now. Safe to run on every node at once.
 */
export async function loseStaleSubmissions(
  ports: SweepPorts & { readonly jobs: Pick<Jobs, 'due' | 'loseSubmit'> },
  { unknownSubmitTtlMs }: SubmitSettings,
  nowMs: number,
): Promise<{ readonly lost: number }> {
  const lose = async ({ id, submittedAtMs }: Job) => {
    const isBegun = submittedAtMs !== null
    const problem = isBegun
      ? 'The gateway stopped during the submission.'
      : 'The gateway stopped before the submission, so nothing was sent.'
    const deadlineAtMs = isBegun ? nowMs + unknownSubmitTtlMs : nowMs
    return (await ports.jobs.loseSubmit(id, { problem, atMs: nowMs, deadlineAtMs, submittedAtMs })).changed
  }
  const left = await sweepJobs(ports, { work: 'left_queued', atMs: nowMs }, lose)
  const stale = await sweepJobs(ports, { work: 'stale_queued', atMs: nowMs - STALE_AFTER_MS }, lose)
  return { lost: left.changed + stale.changed }
}

/** The ports of a sweep that claims jobs, so that of all nodes one asks the provider of each. */
type AskPorts = SweepPorts & { readonly jobs: Pick<Jobs, 'claim' | 'endClaim'> }

/**
 * Asks providers for the states of their running jobs, and settles jobs that have ended. Starts the fetch of a large
 * result and does not wait for it. Skips jobs that this node already works on. Safe to run on every node at once.
 */
async function pollJobs(
  ports: AskPorts & { readonly runner: Pick<JobRunner, 'pollClaimed' | 'isRunning'> },
  nowMs: number,
): Promise<{ readonly polled: number; readonly ended: number }> {
  const { runner } = ports
  let skipped = 0
  const { seen, changed } = await askProviders(ports, { work: 'poll', atMs: nowMs }, async job => {
    if (runner.isRunning(job.id)) skipped += 1
    const { settled } = await runner.pollClaimed(job)
    return { changed: settled.then(now => now.state !== job.state) }
  })
  return { polled: seen - skipped, ended: changed }
}

/**
 * Looks for jobs of unknown submissions at providers that can be asked, and continues the jobs that are found. Safe to
 * run on every node at once: an upstream id belongs to one job.
 */
async function recoverSubmissions(
  ports: AskPorts & { readonly runner: Pick<JobRunner, 'recover'> },
  nowMs: number,
): Promise<{ readonly recovered: number }> {
  const { changed } = await askProviders(ports, { work: 'recover', atMs: nowMs }, async job => {
    const { settled } = await ports.runner.recover(job)
    return { changed: settled.then(now => now.state !== job.state) }
  })
  return { recovered: changed }
}

/**
 * Books the results that providers finished after the job's money was released. Each job is watched for a day. Safe to
 * run on every node at once: a late completion is booked once.
 */
async function watchReleasedJobs(
  ports: AskPorts & { readonly runner: Pick<JobRunner, 'watch'> },
  nowMs: number,
): Promise<{ readonly lateCompletions: number }> {
  const { changed } = await askProviders(ports, { work: 'watch', atMs: nowMs }, async job => {
    const isBooked = await ports.runner.watch(job)
    return { changed: Promise.resolve(isBooked) }
  })
  return { lateCompletions: changed }
}

/**
 * Fails jobs whose deadline is over, and releases their money: 15 minutes after an unknown submission, a day after the
 * creation of any other. Safe to run on every node at once: each job fails once, and not if it has been found.
 */
async function releaseOverdueJobs(
  ports: SweepPorts & { readonly jobs: Pick<Jobs, 'due' | 'fail'> },
  nowMs: number,
): Promise<{ readonly released: number }> {
  const fail = async ({ id, state, deadlineAtMs }: Job) => {
    const failure = state === 'processing' ? OVERDUE : SUBMIT_UNCONFIRMED
    return (await ports.jobs.fail(id, { ...failure, deadlineAtMs, atMs: nowMs })).changed
  }
  const { changed } = await sweepJobs(ports, { work: 'overdue', atMs: nowMs }, fail)
  return { released: changed }
}

/**
 * Archives results past their retention: first the job, so that no reply promises files that are gone, and then its
 * files. The sweep of files moves those that a crash in between has left. Safe to run on every node at once.
 */
async function archiveResults(
  ports: SweepPorts & {
    readonly jobs: Pick<Jobs, 'due' | 'archive'>
    readonly blobs: Pick<Blobs, 'archive'>
  },
  { retention: { imageMs, videoMs } }: ReconcileJobsSettings,
  nowMs: number,
): Promise<{ readonly archived: number }> {
  const archive = async ({ id, outputs }: Job) => {
    const { changed } = await ports.jobs.archive(id, nowMs)
    for (const { key } of outputs) await ports.blobs.archive(key)
    return changed
  }
  let archived = 0
  for (const [kind, keptMs] of [
    ['image', imageMs],
    ['video', videoMs],
  ] as const) {
    if (keptMs === null) continue
    const atMs = nowMs - Math.max(keptMs, KEPT_MS_MIN)
    const work = { work: 'archive', kind, atMs, limitMs: ARCHIVE_MS_MAX } as const
    archived += (await sweepJobs(ports, work, archive)).changed
  }
  return { archived }
}
