import type { JobKind } from '../../../domain/jobs/job.ts'
import type { Params } from '../../../domain/jobs/params.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'
import type { SubmitCall } from '../../../gateway/ports/providers/media-provider.ts'
import { hash32 } from '../seeded-random.ts'
import { clipRatio, imageSize } from './base-clips.ts'
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
type SandboxJobs = {
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

/** The length of a clip if the submission has none. */
const CLIP_MS = 5000

/** The job that a submission asks for. */
export function newJob(
  call: SubmitCall,
  directives: MediaDirectives,
  { nowMs, videoMs }: { readonly nowMs: number; readonly videoMs: number },
): SandboxJob {
  const delayMs = directives.delay_ms ?? (call.kind === 'video' ? videoMs : 0)
  return {
    kind: call.kind,
    directives,
    renderings: directives.result === undefined ? renderingsOf(call, directives) : [],
    createdAtMs: nowMs,
    finishesAtMs: directives.never === undefined ? nowMs + delayMs : Infinity,
    pollFailuresLeft: directives.poll_failures ?? 0,
    isDelivered: false,
  }
}

function renderingsOf(call: SubmitCall, { images, clip_s: clipS }: MediaDirectives): readonly Rendering[] {
  const { kind, model, prompt, params, durationMs = CLIP_MS } = call
  if (kind === 'video') {
    const clipMs = clipS === undefined ? durationMs : Math.round(clipS * 1000)
    return [{ file: 'clip', ratio: clipRatio(params), durationMs: clipMs }]
  }
  // A prompt may be long, and jobs are kept.
  const seed = hash32(JSON.stringify([model, prompt, sorted(params)])).toString(36)
  const size = imageSize(params)
  return Array.from({ length: images ?? call.count }, (_, index) => ({
    file: 'png',
    ...size,
    seed: `${index}:${seed}`,
  }))
}

function sorted(params: Params): readonly unknown[] {
  return Object.entries(params).sort(([left], [right]) => (left < right ? -1 : 1))
}
