import { pause, type Clock } from '../../../gateway/ports/clock.ts'
import type {
  MediaProvider,
  PollOutcome,
  Rejection,
  SubmitOutcome,
} from '../../../gateway/ports/providers/media-provider.ts'
import { clipSize, imageSize } from './base-clips.ts'
import { readDirectives, type MediaDirectives } from './directives.ts'
import { newJob, sandboxJobs } from './sandbox-jobs.ts'
import { endTurns, pollJob } from './poll-job.ts'
import { openRenderer, type Renderer } from './renderer.ts'

/** How long a video job runs by default. */
export const VIDEO_MS = 3000
const POLL_EVERY_MS = 250

type SandboxMediaPorts = {
  readonly clock: Clock
  readonly renderer?: Renderer
  readonly videoMs?: number
  /** How many jobs are remembered. */
  readonly jobsMax?: number
}

/**
 * The built-in provider's images and videos: real files that show the word SANDBOX on a pattern, the same for the same
 * request. A prompt can ask for any fault of a real provider. Images are ready in the answer to the submission, videos
 * after `videoMs`.
 */
export function sandboxMedia({
  clock,
  renderer = openRenderer(),
  videoMs = VIDEO_MS,
  jobsMax,
}: SandboxMediaPorts): MediaProvider {
  const ports = { clock, renderer, endTurn: endTurns() }
  const jobs = sandboxJobs(clock, jobsMax)

  return {
    pollEveryMsMin: POLL_EVERY_MS,

    sizeOf: ({ kind, params }) => (kind === 'image' ? imageSize(params) : clipSize(params)),

    async submit(call) {
      if (call.prompt.trim() === '')
        return rejected({ code: 'EMPTY_PROMPT', message: 'The prompt is empty.' })
      const read = readDirectives(call.prompt)
      if ('problem' in read) return rejected({ code: 'sandbox_invalid_request', message: read.problem })
      const { directives } = read
      const refusal = insteadOfJob(directives)
      if (refusal !== undefined) return refusal
      if (jobs.find(call.jobId) !== undefined)
        return rejected({ status: 409, code: 'DUPLICATE_JOB', message: 'The sandbox has this job already.' })

      const job = newJob(call, directives, { nowMs: clock.monotonicMs(), videoMs })
      if (!jobs.add(call.jobId, job)) {
        const message = 'The sandbox has as many unfinished jobs as it can remember.'
        return rejected({ reason: 'rate_limited', status: 429, code: 'SANDBOX_FULL', message })
      }
      if (directives.submit === 'hang') await pause(clock, call.timeoutMs, undefined)
      if (directives.submit !== undefined) return unknown(directives.submit)
      const isDue = call.kind === 'image' && job.pollFailuresLeft === 0
      // A client waits for these images, and many clients at a time are slowed by the renderer.
      const first = isDue ? await pollJob(job, { ...ports, endTurn: () => true }) : undefined
      return first?.outcome === 'finished' ? first : { outcome: 'accepted', upstreamId: call.jobId }
    },

    async poll({ upstreamId }) {
      const job = jobs.find(upstreamId)
      return job === undefined ? LOST : pollJob(job, ports)
    },

    async recover({ jobId }) {
      const job = jobs.find(jobId)
      if (job === undefined) return { outcome: 'absent' }
      const outcome = await pollJob(job, ports)
      return outcome.outcome === 'unavailable' ? outcome : { ...outcome, upstreamId: jobId }
    },
  }
}

/** The job has failed, not only this poll: a job that memory has lost never comes back. */
const LOST: PollOutcome = {
  outcome: 'failed',
  code: 'SANDBOX_JOB_LOST',
  message: 'The sandbox keeps its jobs in memory and no longer has this one.',
}

function insteadOfJob(directives: MediaDirectives): SubmitOutcome | undefined {
  const { reject, status, retry_after_s: retryAfterS, submit } = directives
  if (reject !== undefined || status !== undefined) {
    return rejected({
      reason: reasonOf(status),
      status: status ?? 400,
      code: reject ?? 'SANDBOX_REJECTED',
      message: 'The sandbox was asked to reject this submission.',
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    })
  }
  if (submit === 'no_id')
    return rejected({ reason: 'no_id', status: 200, message: 'The answer names no job.' })
  if (submit === 'not_sent') return { outcome: 'not_sent', problem: 'ECONNREFUSED' }
  return submit === 'lost' ? unknown(submit) : undefined
}

function reasonOf(status: number | undefined): Rejection['reason'] {
  if (status === 429) return 'rate_limited'
  return status === 401 || status === 402 || status === 403 ? 'operator' : 'invalid'
}

function rejected(rejection: Partial<Rejection> & { readonly message: string }): SubmitOutcome {
  return { outcome: 'rejected', reason: 'invalid', status: 400, ...rejection }
}

function unknown(fault: string): SubmitOutcome {
  return { outcome: 'unknown', problem: fault === 'hang' ? 'no answer in time' : 'ECONNRESET' }
}
