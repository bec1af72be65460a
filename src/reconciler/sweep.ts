import type { JobKind, Job } from '../domain/jobs/job.ts'
import { within } from '../gateway/media/wait-for-job.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Jobs, JobWork } from '../gateway/ports/jobs.ts'

/** Jobs of one kind of work that a pass looks at. The next pass looks at the rest. */
const SWEEP_JOBS_MAX = 10_000
/** Jobs worked on at a time unless a sweep says otherwise. */
const CONCURRENCY = 16

/** Where the sweeps of a node stopped before they had seen everything. The next pass continues there. */
export type SweepPlaces = Map<string, string>

export type SweepPorts = {
  readonly jobs: Pick<Jobs, 'due'>
  readonly clock: Clock
  readonly places: SweepPlaces
  /** Fires when the gateway stops: sweeps then end at once. */
  readonly stopping: CallerSignal
  /** Called with the error of each job whose work failed. The sweep continues. */
  readonly onFailed: (error: unknown) => void
}

/** The work and the limits of a sweep. */
export type SweepWork = {
  readonly work: JobWork
  readonly kind?: JobKind
  readonly atMs: number
  /** No limit if it is absent. */
  readonly limitMs?: number
  /** Jobs worked on at a time, and read at a time. */
  readonly concurrency?: number
}

/**
 * Does `change` for the jobs that need a kind of work at an instant, a few at a time. It stops after a number of jobs
 * or a time; work in progress then continues. Resolves with the number of jobs that it started, and the number for
 * which `change` returned true.
 */
export async function sweepJobs(
  ports: SweepPorts,
  what: SweepWork,
  change: (job: Job) => Promise<boolean>,
): Promise<{ readonly seen: number; readonly changed: number }> {
  const { clock, stopping, onFailed } = ports
  const { limitMs = Infinity, concurrency = CONCURRENCY } = what
  const untilMs = clock.monotonicMs() + limitMs
  const counts = { seen: 0, changed: 0 }
  const due = dueJobs(ports, { ...what, concurrency })
  const worker = async () => {
    while (counts.seen < SWEEP_JOBS_MAX && clock.monotonicMs() < untilMs && !stopping.aborted) {
      const { value: job } = await due.next()
      if (job === undefined) return
      counts.seen += 1
      try {
        if (await change(job)) counts.changed += 1
      } catch (error) {
        onFailed(error)
      }
    }
  }
  const working = Promise.all(Array.from({ length: concurrency }, worker))
  await (limitMs === Infinity ? working : within(limitMs, working, { clock, signal: stopping }))
  return { ...counts }
}

/** The due jobs from the place where the last sweep stopped. Keeps the place after the last job that it returned. */
async function* dueJobs(
  { jobs, places }: SweepPorts,
  { work, kind, atMs, concurrency }: SweepWork & { readonly concurrency: number },
): AsyncGenerator<Job, undefined> {
  const name = `${work} ${kind}`
  for (let after = places.get(name); ;) {
    const page = await jobs.due(work, {
      atMs,
      limit: concurrency,
      ...(kind === undefined ? {} : { kind }),
      ...(after === undefined ? {} : { after }),
    })
    for (const [index, job] of page.jobs.entries()) {
      const isLast = index === page.jobs.length - 1
      if (isLast && page.next !== undefined) places.set(name, page.next)
      if (isLast && page.next === undefined) places.delete(name)
      yield job
    }
    after = page.next
    if (after === undefined) break
  }
  places.delete(name)
  return undefined
}
