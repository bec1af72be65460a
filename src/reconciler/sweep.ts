import type { Job, JobKind } from '../domain/jobs/job.ts'
import { CALL_CLAIM_MS } from '../gateway/media/work/job-runner.ts'
import { within } from '../gateway/media/wait-for-job.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Jobs, JobWork, ProviderWork } from '../gateway/ports/media/jobs.ts'

/** Jobs of one kind of work that a pass looks at. The next pass looks at the rest. */
const SWEEP_JOBS_MAX = 10_000
/** Jobs worked on at a time, and read at a time. */
const CONCURRENCY = 16

/** How long a sweep that calls providers may take. */
const PROVIDERS_MS_MAX = 10_000
/** Calls to providers at a time. At 100 ms a call, a sweep asks for 6,400 jobs. */
export const CALLS_MAX = 64
/** If a provider takes longer to answer for one job, the sweep skips its other jobs. */
export const SLOW_MS = 3000

/** Where the sweeps of a node stopped before they had seen everything. The next pass continues there. */
export type SweepPlaces = Map<string, string>

export type SweepPorts = {
  readonly clock: Clock
  readonly places: SweepPlaces
  /** Fires when the gateway stops: sweeps then end at once. */
  readonly stopping: CallerSignal
  /** Called with the error of each job whose work failed. The sweep continues. */
  readonly onFailed: (error: unknown) => void
}

/** The number of jobs that a sweep started work on, and the number that its work has changed. */
type Swept = { readonly seen: number; readonly changed: number }

/**
 * Does `change` for the jobs that need a kind of work at an instant, a few at a time. It stops after a number of jobs
 * or a time; work in progress then continues. A job counts as changed if `change` returned true.
 */
export async function sweepJobs(
  ports: SweepPorts & { readonly jobs: Pick<Jobs, 'due'> },
  what: {
    readonly work: JobWork
    readonly kind?: JobKind
    readonly atMs: number
    /** No limit if it is absent. */
    readonly limitMs?: number
  },
  change: (job: Job) => Promise<boolean>,
): Promise<Swept> {
  const { limitMs = Infinity } = what
  const due = dueJobs(ports, what)
  const next = async () => (await due.next()).value
  return workThrough(ports, { next, limitMs, concurrency: CONCURRENCY }, change)
}

/**
 * Resolves when the provider has answered. `changed` resolves when its answer is settled: whether it changed the job.
 */
type AskProvider = (claimed: Job) => Promise<{ readonly changed: Promise<boolean> }>

/**
 * Claims the jobs that need a kind of work at an instant, and asks their providers. Neither a slow provider nor the
 * fetch of a large result keeps the jobs of other providers waiting: such work continues after the sweep. `ask` ends
 * the claims of the jobs that it gets. Jobs that have changed when the sweep ends count as changed.
 */
export async function askProviders(
  ports: SweepPorts & { readonly jobs: Pick<Jobs, 'claim' | 'endClaim'> },
  what: { readonly work: ProviderWork; readonly atMs: number },
  ask: AskProvider,
): Promise<Swept> {
  const { jobs, clock, stopping, onFailed } = ports
  const ends = { clock, signal: stopping }
  const untilMs = clock.monotonicMs() + PROVIDERS_MS_MAX
  const slow = new Set<string>()
  const settling: Promise<void>[] = []
  const counts = { seen: 0, changed: 0 }
  const follow = async (job: Job) => {
    const { changed } = await ask(job)
    settling.push(changed.then(isChanged => void (counts.changed += isChanged ? 1 : 0)).catch(onFailed))
  }
  const next = claimedJobs(ports, what)
  await workThrough(ports, { next, limitMs: PROVIDERS_MS_MAX, concurrency: CALLS_MAX }, async job => {
    if (slow.has(job.provider)) {
      await jobs.endClaim(job.id, { claimedUntilMs: job.nextPollAtMs, atMs: clock.now() })
      return false
    }
    counts.seen += 1
    let isSlow = true
    const answered = follow(job).finally(() => (isSlow = false))
    await within(SLOW_MS, answered, ends)
    if (!isSlow) return answered.then(() => false)
    slow.add(job.provider)
    answered.catch(onFailed)
    return false
  })
  if (!stopping.aborted) await within(Math.max(0, untilMs - clock.monotonicMs()), Promise.all(settling), ends)
  return { ...counts }
}

type NextJob = () => Promise<Job | undefined>

/** Works through jobs, several at a time, until there is none, or the limits of a sweep are reached. */
async function workThrough(
  { clock, stopping, onFailed }: SweepPorts,
  { next, limitMs, concurrency }: { next: NextJob; limitMs: number; concurrency: number },
  change: (job: Job) => Promise<boolean>,
): Promise<Swept> {
  const untilMs = clock.monotonicMs() + limitMs
  const counts = { seen: 0, changed: 0 }
  const worker = async () => {
    while (counts.seen < SWEEP_JOBS_MAX && clock.monotonicMs() < untilMs && !stopping.aborted) {
      const job = await next()
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
  { jobs, places }: Pick<SweepPorts, 'places'> & { readonly jobs: Pick<Jobs, 'due'> },
  { work, kind, atMs }: { readonly work: JobWork; readonly kind?: JobKind; readonly atMs: number },
): AsyncGenerator<Job, undefined> {
  const name = `${work} ${kind}`
  for (let after = places.get(name); ;) {
    const page = await jobs.due(work, {
      atMs,
      limit: CONCURRENCY,
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

/**
 * Like `dueJobs`, and claims the jobs: each time exactly as many as are asked for at that moment, so that no job is
 * claimed that nothing works on.
 */
function claimedJobs(
  { jobs, places, clock }: Pick<SweepPorts, 'places' | 'clock'> & { readonly jobs: Pick<Jobs, 'claim'> },
  { work, atMs }: { readonly work: ProviderWork; readonly atMs: number },
): NextJob {
  const asking: PromiseWithResolvers<Job | undefined>[] = []
  let isOver = false
  const claim = async () => {
    const served = asking.splice(0)
    try {
      const claimed = isOver ? [] : await claimPage(served.length)
      for (const [index, { resolve }] of served.entries()) resolve(claimed[index])
    } catch (error) {
      for (const { reject } of served) reject(error)
    }
  }
  const claimPage = async (limit: number) => {
    const after = places.get(work)
    const page = { atMs, limit, ...(after === undefined ? {} : { after }) }
    const { jobs: claimed, next } = await jobs.claim(work, page, clock.now() + CALL_CLAIM_MS)
    isOver = next === undefined
    if (next === undefined) places.delete(work)
    else places.set(work, next)
    return claimed
  }
  let latest = Promise.resolve()
  return () => {
    const asked = Promise.withResolvers<Job | undefined>()
    asking.push(asked)
    // One claim at a time. It serves all that ask before it begins.
    if (asking.length === 1) latest = latest.then(claim)
    return asked.promise
  }
}
