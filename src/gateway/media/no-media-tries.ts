import type { Id } from '../../domain/ids.ts'
import { jobKey } from './job-id.ts'

/** Jobs that are counted at a time. Beyond that, the one that was fetched longest ago is forgotten. */
const JOBS_MAX = 10_000

/**
 * Counts the fetches of each job that got something other than an image or a clip. The counts are in memory: a restarted
 * node and every other node count from zero.
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
