import { isFinal, type Job } from '../../domain/jobs/job.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { JobRunner } from './job-runner.ts'

/** The contract's step between two polls of a wait. */
const POLL_EVERY_MS = 2000

export type WaitPorts = {
  readonly jobs: Pick<Jobs, 'find'>
  readonly runner: JobRunner
  readonly clock: Clock
}

/**
 * How long a client waits for the provider's answer to the submit of its job. After that it gets the id of the job,
 * which goes on: many clients and proxies do not wait much longer.
 */
export const SUBMIT_WAIT_MS = 150_000

/**
 * Waits until a job has ended or cannot be followed, for at most `waitMs`, and polls its provider meanwhile. Resolves
 * with the job as it is then. A client that disconnects ends the wait, and never the job.
 */
export async function waitForJob(
  job: Job,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: CallerSignal },
  ports: WaitPorts,
): Promise<Job> {
  const isOver = ({ state }: Job) => isFinal(state) || state === 'unknown_submit'
  return waitUntil(job, isOver, { waitMs, signal }, ports)
}

/** As `waitForJob`, until the provider has answered the submit, whatever the answer is. */
export async function waitForSubmit(
  job: Job,
  { signal }: { readonly signal: CallerSignal },
  ports: WaitPorts,
): Promise<Job> {
  return waitUntil(job, ({ state }) => state !== 'queued', { waitMs: SUBMIT_WAIT_MS, signal }, ports)
}

async function waitUntil(
  job: Job,
  isOver: (job: Job) => boolean,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: CallerSignal },
  { jobs, runner, clock }: WaitPorts,
): Promise<Job> {
  const untilMs = clock.monotonicMs() + waitMs
  let latest = job
  while (!isOver(latest) && !signal.aborted) {
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs <= 0) break
    await step(runner, latest, Math.min(POLL_EVERY_MS, leftMs), { signal, clock })
    latest = (await jobs.find(job.id)) ?? latest
  }
  return latest
}

type Ends = { readonly signal?: CallerSignal; readonly clock: Clock }

/** Until this node's work has moved the job; else for a while, as another node or the provider may be at it. */
async function step(runner: JobRunner, job: Job, limitMs: number, ends: Ends): Promise<void> {
  const follow = async (end: () => void) => {
    // A failure is reported elsewhere. A job that cannot be worked on is tried again a step later, not at once.
    const now = await runner.follow(job).catch(() => job)
    if (now.state !== job.state) end()
  }
  await pause(limitMs, ends, end => void follow(end))
}

/**
 * Resolves when `work` has ended, the time is over, or the client has disconnected. A failure of `work` is reported
 * elsewhere.
 */
export async function within(limitMs: number, work: Promise<unknown>, ends: Ends): Promise<void> {
  await pause(limitMs, ends, end => void work.then(end, end))
}

/** Resolves when `end` is called, the time is over, or the client has disconnected. */
async function pause(
  limitMs: number,
  { signal, clock }: Ends,
  begin: (end: () => void) => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(limitMs, resolve)
  signal?.addEventListener('abort', resolve)
  begin(resolve)
  await promise
  cancel()
  signal?.removeEventListener('abort', resolve)
}
