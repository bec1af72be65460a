import type { Job } from '../../../domain/jobs/job.ts'
import type { BlobDamage } from '../../ports/media/blobs.ts'
import { jobKey } from '../job-id.ts'

/** Jobs that are kept in memory. The report of an older one is repeated if its result is asked for again. */
const JOBS_KEPT_MAX = 1000

/** The part of a completed job that a report names. */
export type PaidJob = Pick<Job, 'id' | 'kind' | 'model' | 'cost'>

/** A job whose customer paid for a result that can no longer be served. */
type DamagedResult = { readonly job: PaidJob; readonly key: string; readonly damage: BlobDamage }

/**
 * The completed jobs whose stored files were found missing or changed, since the start of the process. Each is reported
 * once.
 */
export class DamagedResults {
  readonly #report: (found: DamagedResult) => void
  readonly #found = new Map<string, DamagedResult>()

  constructor(report: (found: DamagedResult) => void) {
    this.#report = report
  }

  note(found: DamagedResult): void {
    const name = jobKey(found.job.id)
    if (this.#found.has(name)) return
    for (const oldest of this.#found.keys()) {
      if (this.#found.size < JOBS_KEPT_MAX) break
      this.#found.delete(oldest)
    }
    this.#found.set(name, found)
    this.#report(found)
  }

  /** The oldest first. */
  list(): readonly DamagedResult[] {
    return [...this.#found.values()]
  }
}
