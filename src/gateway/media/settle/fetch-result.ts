import type { Id } from '../../../domain/ids.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import type { MediaResult } from '../../ports/providers/media-provider.ts'
import { jobKey } from '../job-id.ts'
import { storeOutputs, type StoreOutputsPorts, type StoredOutputs } from './store-outputs.ts'

/** Results that one node fetches at a time: each has a connection and a file, and may take minutes. */
export const RESULT_FETCHES_MAX = 32

/** The status of a job while its result is being fetched, instead of the provider's status. */
export const FINISHED_STATUS = 'finished'

/** By how much the next poll of a job is postponed while its result is being fetched, and how often this is renewed. */
const POSTPONED_MS = 15_000
const POSTPONE_AGAIN_MS = 5000

export type FetchResultPorts = StoreOutputsPorts & {
  readonly jobs: Pick<Jobs, 'notePoll'>
  readonly clock: Clock
  readonly resultFetches: Slots
  /** Called with errors that happen outside of any request. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Stores the files of a result. Links are fetched in turn with the other fetches of this node. During a fetch, the
 * job's next poll is repeatedly postponed, so that no other node fetches the same result. If this node dies, another
 * one starts the fetch within seconds. A blob store that cannot be written does not end a job: its result is
 * unavailable for now.
 */
export async function fetchResult(
  job: Job,
  result: MediaResult,
  ports: FetchResultPorts,
): Promise<StoredOutputs> {
  const hasLinks = result.outputs.some(({ from }) => from === 'url')
  // Nothing polls a job without an upstream id.
  const endPostponement =
    hasLinks && job.upstreamId !== null ? await postponePolls(job, ports) : () => undefined
  try {
    const store = () => storeOutputs(job, result, ports)
    return await (hasLinks ? ports.resultFetches.run(store) : store())
  } catch (error) {
    ports.onFailed(error)
    return { outcome: 'unavailable', problem: 'The result could not be stored.' }
  } finally {
    endPostponement()
  }
}

/**
 * Postpones the job's next poll at once and then regularly, beyond the claim of the current one. Returns a function
 * that stops that.
 */
async function postponePolls(
  { id, nextPollAtMs: claimedUntilMs }: Job,
  { jobs, clock, onFailed }: FetchResultPorts,
): Promise<() => void> {
  const postpone = () =>
    jobs.notePoll(id, {
      nextPollAtMs: clock.now() + POSTPONED_MS,
      upstreamStatus: FINISHED_STATUS,
      claimedUntilMs,
    })
  let cancel = () => {}
  const postponeRegularly = () => {
    cancel = clock.after(POSTPONE_AGAIN_MS, () => {
      postpone().catch(onFailed)
      postponeRegularly()
    })
  }
  await postpone()
  postponeRegularly()
  return () => cancel()
}

/** Runs a limited number of pieces of work at a time. Others wait in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Settles with the result of `work`. The slot is freed when the work has ended, with success or failure. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}

/** Jobs that are counted at a time. Beyond that, the one that was fetched longest ago is forgotten. */
const JOBS_MAX = 10_000

/**
 * Counts the fetches of each job that got something other than an image or a clip. The counts are in memory: a
 * restarted node and every other node count from zero.
 */
export class NoMediaTries {
  readonly #tries = new Map<string, number>()

  /** Counts one fetch, and returns the number of the job's fetches so far. */
  add(id: Id): number {
    const key = jobKey(id)
    const tries = (this.#tries.get(key) ?? 0) + 1
    // A map keeps the order in which its keys were added.
    this.#tries.delete(key)
    this.#tries.set(key, tries)
    const [oldest] = this.#tries.keys()
    if (this.#tries.size > JOBS_MAX && oldest !== undefined) this.#tries.delete(oldest)
    return tries
  }

  /** Forgets a job that has ended. */
  forget(id: Id): void {
    this.#tries.delete(jobKey(id))
  }
}
