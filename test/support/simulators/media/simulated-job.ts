import type { JobBehavior, OutputBehavior } from './behaviors.ts'
import type { Asked, JobView, OutputView } from './dialect.ts'

/** A job that a simulated provider has accepted. */
export type SimulatedJob = {
  readonly id: string
  readonly number: number
  readonly asked: Asked
  readonly body: string
  readonly acceptedAtMs: number
  readonly endsAtMs: number
  readonly isConfirmed: boolean
  readonly behavior: JobBehavior
}

/** A fifth of a job's time is spent waiting. */
const QUEUED_SHARE = 0.2

/** Whether the provider shows the job: not in the time before, and not after it was forgotten. */
export function isShown({ acceptedAtMs, endsAtMs, behavior }: SimulatedJob, nowMs: number): boolean {
  const { shownAfterMs = 0, forgottenAfterMs = Infinity } = behavior
  return nowMs >= acceptedAtMs + shownAfterMs && nowMs < endsAtMs + forgottenAfterMs
}

/** A job as it is at one time. */
export function viewOf(
  job: SimulatedJob,
  { nowMs, fileUrl }: { readonly nowMs: number; readonly fileUrl: (file: string) => string },
): JobView {
  const { id, number, asked, acceptedAtMs, endsAtMs, behavior } = job
  const isRunning = nowMs < endsAtMs
  const isQueued = nowMs - acceptedAtMs < QUEUED_SHARE * (endsAtMs - acceptedAtMs)
  const outputs = outputsOf(behavior)?.map((output, index) =>
    outputView(output, `${number}-${index}`, fileUrl),
  )
  return {
    id,
    number,
    asked,
    acceptedAtMs,
    updatedAtMs: Math.min(nowMs, endsAtMs),
    state: isRunning ? (isQueued ? 'queued' : 'running') : (behavior.ending ?? 'finished'),
    status: isRunning && behavior.hasUnknownStatus === true ? 'unknown' : 'known',
    outputs,
    seconds: secondsOf(job),
  }
}

/** The same job as a faulty answer shows it. */
export function viewAs(
  view: JobView,
  behavior: 'normal' | 'no_status' | 'backwards' | 'unknown_status',
): JobView {
  switch (behavior) {
    case 'normal':
      return view
    case 'no_status':
      return { ...view, status: 'none' }
    case 'backwards':
      return { ...view, state: 'queued' }
    case 'unknown_status':
      return { ...view, status: 'unknown' }
  }
}

export function outputsOf({ outputs = [{}] }: JobBehavior): readonly OutputBehavior[] | undefined {
  return outputs === 'missing' ? undefined : outputs
}

function outputView(
  { url, bytes }: OutputBehavior,
  file: string,
  fileUrl: (file: string) => string,
): OutputView {
  const own = { file, url: url ?? fileUrl(file), isOwn: url === undefined }
  return bytes === undefined ? own : { ...own, bytes }
}

function secondsOf({ asked, behavior }: SimulatedJob): unknown {
  if ('reportedAs' in behavior) return behavior.reportedAs
  const { reportedMs = asked.durationMs } = behavior
  return typeof reportedMs === 'number' ? reportedMs / 1000 : undefined
}
