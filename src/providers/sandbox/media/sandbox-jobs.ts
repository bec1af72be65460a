import type { JobKind } from '../../../domain/jobs/job.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'
import type { MediaDirectives } from './directives.ts'
import type { Rendering } from './renderer.ts'

/** Jobs that are remembered, at most. One takes a few hundred bytes. */
const JOBS_MAX = 20_000
/** Longer than the gateway's own time to live of a job, which is a day unless the operator sets another. */
export const JOB_TTL_MS = 25 * 3_600_000

/**
 * How much of the memory is freed when it is full. The jobs that were delivered last stay, because another node may
 * still poll them.
 */
const FREED_SHARE = 0.1

/** The data that a poll needs. The files themselves are rendered on demand. */
export type SandboxJob = {
  readonly kind: JobKind
  readonly directives: MediaDirectives
  readonly renderings: readonly Rendering[]
  /** Of the monotonic clock. */
  readonly createdAtMs: number
  readonly finishesAtMs: number
  pollFailuresLeft: number
  /** Its end was reported once, so its place may be used for another job. */
  isDelivered: boolean
}

/** The sandbox's jobs by our job id, in memory: bounded, and lost with the process. */
export type SandboxJobs = {
  find(jobId: string): SandboxJob | undefined
  /** False if the memory is full of jobs that have not been delivered. */
  add(jobId: string, job: SandboxJob): boolean
}

export function sandboxJobs(clock: Clock, jobsMax = JOBS_MAX): SandboxJobs {
  // In the order of their creation, so the oldest come first.
  const jobs = new Map<string, SandboxJob>()

  const isExpired = (job: SandboxJob) => clock.monotonicMs() - job.createdAtMs >= JOB_TTL_MS
  const makeRoom = () => {
    // More than one at a time, so that a full memory is not searched for every job.
    const roomAt = jobsMax * (1 - FREED_SHARE)
    for (const [jobId, job] of jobs) {
      if (jobs.size <= roomAt) return
      if (isExpired(job) || job.isDelivered) jobs.delete(jobId)
    }
  }

  return {
    find(jobId) {
      const job = jobs.get(jobId)
      return job === undefined || isExpired(job) ? undefined : job
    },
    add(jobId, job) {
      if (jobs.size >= jobsMax) makeRoom()
      if (jobs.size >= jobsMax) return false
      jobs.set(jobId, job)
      return true
    },
  }
}
