import type { Job } from '../domain/jobs/job.ts'
import { within } from '../gateway/media/wait-for-job.ts'
import type { JobWork } from '../gateway/ports/jobs.ts'
import { sweepJobs, type SweepPorts } from './sweep.ts'

/** How long a sweep that calls providers may take. */
const PROVIDERS_MS_MAX = 10_000
/** Calls to providers at a time. At 100 ms a call, a sweep asks for 6,400 jobs. */
const CONCURRENCY = 64
/** If a provider takes longer to answer for one job, the sweep skips its other jobs. */
const SLOW_MS = 3000

/**
 * Resolves when the provider has answered. `changed` resolves when its answer is settled: whether it changed the job.
 */
export type AskProvider = (job: Job) => Promise<{ readonly changed: Promise<boolean> }>

/**
 * Asks the providers of the jobs that need a kind of work at an instant. Neither a slow provider nor the fetch of a
 * large result keeps the jobs of other providers waiting: such work continues after the sweep. Resolves with the number
 * of jobs that it asked about, and the number that have changed by then.
 */
export async function askProviders(
  ports: SweepPorts,
  { work, atMs }: { readonly work: JobWork; readonly atMs: number },
  ask: AskProvider,
): Promise<{ readonly seen: number; readonly changed: number }> {
  const { clock, stopping, onFailed } = ports
  const ends = { clock, signal: stopping }
  const untilMs = clock.monotonicMs() + PROVIDERS_MS_MAX
  const slow = new Set<string>()
  const settling: Promise<void>[] = []
  const counts = { seen: 0, changed: 0 }
  const follow = async (job: Job) => {
    const { changed } = await ask(job)
    settling.push(changed.then(isChanged => void (counts.changed += isChanged ? 1 : 0)).catch(onFailed))
  }
  await sweepJobs(ports, { work, atMs, limitMs: PROVIDERS_MS_MAX, concurrency: CONCURRENCY }, async job => {
    if (slow.has(job.provider)) return false
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
