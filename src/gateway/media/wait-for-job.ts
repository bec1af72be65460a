import { isFinal, type Job } from '../../domain/jobs/job.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import { POLL_EVERY_MS_MIN, type JobRunner } from './job-runner.ts'

export type WaitPorts = {
  readonly jobs: Pick<Jobs, 'find'>
  readonly runner: JobRunner
  readonly clock: Clock
}

/**
 * Waits until a job has ended or cannot be followed, for at most `waitMs`, and polls its provider meanwhile. Resolves with the job as
 * it is then. A client that leaves ends the wait, and never the job.
 */
export async function waitForJob(
  job: Job,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: CallerSignal },
  { jobs, runner, clock }: WaitPorts,
): Promise<Job> {
  const untilMs = clock.monotonicMs() + waitMs
  let latest = job
  for (;;) {
    if (isFinal(latest.state) || latest.state === 'unknown_submit' || signal.aborted) return latest
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs <= 0) return latest
    await step(runner, latest, Math.min(POLL_EVERY_MS_MIN, leftMs), { signal, clock })
    latest = (await jobs.find(job.id)) ?? latest
  }
}

/** Until this node's work for the job ends, or where it has none, for a while: another node or the provider may be at it. */
async function step(
  runner: JobRunner,
  job: Job,
  limitMs: number,
  ends: { readonly signal: CallerSignal; readonly clock: Clock },
): Promise<void> {
  const work = runner.isRunning(job.id) ? runner.follow(job) : runner.follow(job).then(() => never)
  await within(limitMs, work, ends)
}

const never = new Promise<void>(() => undefined)

/** Resolves when `work` has ended, the time is over, or the client has left. What fails in `work` is reported elsewhere. */
export async function within(
  limitMs: number,
  work: Promise<unknown>,
  { signal, clock }: { readonly signal?: CallerSignal; readonly clock: Clock },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(limitMs, resolve)
  signal?.addEventListener('abort', resolve)
  work.then(
    () => resolve(),
    () => resolve(),
  )
  await promise
  cancel()
  signal?.removeEventListener('abort', resolve)
}
