import { isFinal, type Job } from '../../domain/jobs/job.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/media/jobs.ts'
import type { JobRunner } from './work/job-runner.ts'

/** The contract's step between two polls of a wait. */
const POLL_EVERY_MS = 2000

/** A short wait asks the provider once, at its end, and waits this long for the answer. */
const LAST_POLL_MS = 1000

export type WaitPorts = {
  readonly jobs: Pick<Jobs, 'find'>
  readonly runner: Pick<JobRunner, 'follow' | 'poll'>
  readonly clock: Clock
}

/**
 * How long a client waits for the provider's answer to the submission of its job. After that it gets the id of the job,
 * and the job continues. Many clients and proxies do not wait much longer.
 */
const SUBMIT_WAIT_MS = 150_000

/**
 * Waits until a job has ended or can no longer be polled, for at most `waitMs`. Polls its provider while it waits; a
 * wait that is too short for that polls at its end, and waits a moment for the answer.
 * Resolves with the job in its latest state. While the store cannot be read, that is the state that this node knows:
 * the client needs the id of its job, and would pay for another one if it got an error. A client that disconnects ends
 * the wait, and never the job.
 */
export async function waitForJob(
  job: Job,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: CallerSignal },
  ports: WaitPorts,
): Promise<Job> {
  const isOver = ({ state }: Job) => isFinal(state) || state === 'unknown_submit'
  const latest = await waitUntil(job, isOver, { waitMs, signal }, ports)
  const hasPolled = waitMs > POLL_EVERY_MS
  if (hasPolled || waitMs <= 0 || isOver(latest) || signal.aborted) return latest
  const { jobs, runner, clock } = ports
  const poll = runner.poll(latest, { earlyMs: POLL_EVERY_MS })
  const polled = await within(LAST_POLL_MS, poll, { signal, clock })
  return (await read(latest, jobs)) ?? polled ?? latest
}

/** Like `waitForJob`, but waits only until the provider has answered the submission. */
export async function waitForSubmission(
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
  let isSame = false
  while (!isOver(latest) && !signal.aborted) {
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs <= 0) break
    // The provider took a moment to answer the last poll, so the next one may be due that moment after a whole step.
    const dueMs = isSame ? latest.nextPollAtMs - clock.now() : 0
    const stepMs = dueMs > 0 ? Math.min(POLL_EVERY_MS, dueMs) : POLL_EVERY_MS
    const followed = await step(runner, latest, Math.min(stepMs, leftMs), { signal, clock })
    const found = (await read(job, jobs)) ?? followed ?? latest
    isSame = found.state === latest.state
    latest = found
  }
  return latest
}

/** Undefined if the store cannot be read. */
async function read({ id }: Job, jobs: Pick<Jobs, 'find'>): Promise<Job | undefined> {
  return jobs.find(id).catch(() => undefined)
}

type Ends = { readonly signal?: CallerSignal; readonly clock: Clock }

/**
 * Waits for this node's work on the job, if there is any. Otherwise waits a moment, because another node or the
 * provider may be working on it. Resolves with the job if that work changed its state.
 */
async function step(
  runner: WaitPorts['runner'],
  job: Job,
  limitMs: number,
  ends: Ends,
): Promise<Job | undefined> {
  const follow = async (end: (changed: Job) => void) => {
    // A failure is reported elsewhere. Failed work is tried again in the next step, not at once.
    const now = await runner.follow(job).catch(() => job)
    if (now.state !== job.state) end(now)
  }
  return waitFor(limitMs, ends, end => void follow(end))
}

/**
 * Resolves with what `work` resolves with, or with undefined when the time is over, the client has disconnected or
 * `work` has failed, which is reported elsewhere.
 */
export async function within<T>(limitMs: number, work: Promise<T>, ends: Ends): Promise<T | undefined> {
  return waitFor<T>(limitMs, ends, end => void work.then(end, () => end(undefined)))
}

/** Resolves with what `end` is called with, or when the time is over or the client has disconnected. */
async function waitFor<T>(
  limitMs: number,
  { signal, clock }: Ends,
  begin: (end: (value: T | undefined) => void) => void,
): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<T | undefined>()
  const giveUp = () => resolve(undefined)
  const cancel = clock.after(limitMs, giveUp)
  signal?.addEventListener('abort', giveUp)
  begin(resolve)
  const value = await promise
  cancel()
  signal?.removeEventListener('abort', giveUp)
  return value
}
