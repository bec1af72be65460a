import type { Job } from '../../domain/jobs/job.ts'
import type { Changed, Jobs } from '../ports/jobs.ts'

/** Receives each job whose state has just changed on this node; once for each change, wherever it came from. */
export type ObserveJob = (job: Job) => void

/** The same jobs, with every change of a state reported. */
export function observedJobs(jobs: Jobs, observe: ObserveJob): Jobs {
  const seen = async (change: Promise<Changed>): Promise<Changed> => {
    const changed = await change
    if (changed.changed) observe(changed.job)
    return changed
  }
  return {
    ...jobs,
    async create(job) {
      const created = await jobs.create(job)
      if (created.outcome === 'created') observe(created.job)
      return created
    },
    accept: (id, to) => seen(jobs.accept(id, to)),
    loseSubmit: (id, to) => seen(jobs.loseSubmit(id, to)),
    complete: (id, result) => seen(jobs.complete(id, result)),
    fail: (id, failure) => seen(jobs.fail(id, failure)),
  }
}
