import type { Job } from '../../domain/jobs/job.ts'
import type { Changed, Jobs } from '../ports/media/jobs.ts'

export type JobObserver = {
  /**
   * Called with each job whose state has just changed on this node: once for each change, from any cause. A new job
   * counts as a change.
   */
  readonly changed: (job: Job) => void
  /** Called once with each failed job whose provider finished it after the release, when that was booked as a loss. */
  readonly finishedLate?: (job: Job) => void
}

/** The same port, which also reports every change of a state. */
export function observedJobs(jobs: Jobs, observers: readonly JobObserver[]): Jobs {
  const reportChange = (job: Job) => {
    for (const observer of observers) observer.changed(job)
  }
  const seen = async (change: Promise<Changed>): Promise<Changed> => {
    const changed = await change
    if (changed.changed) reportChange(changed.job)
    return changed
  }
  return {
    async create(job) {
      const created = await jobs.create(job)
      if (created.outcome === 'created') reportChange(created.job)
      return created
    },
    findByKey: (accountId, key, atMs) => jobs.findByKey(accountId, key, atMs),
    beginSubmit: (id, atMs, inputs) => jobs.beginSubmit(id, atMs, inputs),
    accept: (id, to) => seen(jobs.accept(id, to)),
    loseSubmit: (id, to) => seen(jobs.loseSubmit(id, to)),
    complete: (id, result) => seen(jobs.complete(id, result)),
    fail: (id, failure) => seen(jobs.fail(id, failure)),
    async bookLateCompletion(id, late) {
      const isBooked = await jobs.bookLateCompletion(id, late)
      const job = isBooked ? await jobs.find(id) : undefined
      if (job !== undefined) for (const observer of observers) observer.finishedLate?.(job)
      return isBooked
    },
    notePoll: (id, poll) => jobs.notePoll(id, poll),
    endWatch: (id, end) => jobs.endWatch(id, end),
    archive: (id, atMs) => jobs.archive(id, atMs),
    find: id => jobs.find(id),
    history: id => jobs.history(id),
    list: page => jobs.list(page),
    openCounts: () => jobs.openCounts(),
    due: (work, page) => jobs.due(work, page),
    claim: (work, page, untilMs) => jobs.claim(work, page, untilMs),
    endClaim: (id, claim) => jobs.endClaim(id, claim),
  }
}
