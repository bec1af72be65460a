import type { Clock } from '../../../gateway/ports/clock.ts'
import type { MediaOutput, PollOutcome } from '../../../gateway/ports/providers/media-provider.ts'
import type { Renderer } from './renderer.ts'
import type { SandboxJob } from './sandbox-jobs.ts'

/** Jobs that end in a second of polls. With more, other requests have to wait while the gateway stores the files. */
const ENDS_PER_SECOND = 25
/** Jobs that end at once if none has ended for a while: about the jobs that a sweep of the reconciler ends. */
export const ENDS_AT_ONCE = 64

/** Whether one more job may end now. */
type EndTurn = (nowMs: number) => boolean

/**
 * Spreads the ends of jobs over time. A sweep would otherwise end thousands of jobs at once, and all other requests
 * would wait until the gateway has stored their files.
 */
export function endTurns(): EndTurn {
  const everyMs = 1000 / ENDS_PER_SECOND
  let nextAtMs = -Infinity
  return nowMs => {
    nextAtMs = Math.max(nextAtMs, nowMs - (ENDS_AT_ONCE - 1) * everyMs)
    if (nextAtMs > nowMs) return false
    nextAtMs += everyMs
    return true
  }
}

type PollPorts = { readonly clock: Clock; readonly renderer: Renderer; readonly endTurn: EndTurn }

/** The current state of a sandbox job. Makes its files when it is finished. */
export async function pollJob(
  job: SandboxJob,
  { clock, renderer, endTurn }: PollPorts,
): Promise<PollOutcome> {
  const { directives, finishesAtMs } = job
  if (job.pollFailuresLeft > 0) {
    job.pollFailuresLeft -= 1
    return unavailable('The sandbox was asked to fail this poll.')
  }
  const nowMs = clock.monotonicMs()
  if (nowMs < finishesAtMs || !endTurn(nowMs)) {
    const { upstream_status: word } = directives
    return { outcome: 'running', upstreamStatus: word ?? 'running', isKnownStatus: word === undefined }
  }
  if (directives.fail !== undefined) {
    job.isDelivered = true
    const message = 'The sandbox was asked to fail this generation.'
    return { outcome: 'failed', code: directives.fail, message }
  }
  const outputs = await outputsOf(job, renderer)
  if (outputs === undefined) return unavailable('The sandbox has too much to render.')
  job.isDelivered = true
  const durationMs = reportedDurationMs(job)
  const isCounted = directives.uncounted === undefined
  return {
    outcome: 'finished',
    result: { outputs, isCounted, ...(durationMs === undefined ? {} : { durationMs }) },
  }
}

function unavailable(problem: string): PollOutcome {
  return { outcome: 'unavailable', problem }
}

async function outputsOf(job: SandboxJob, renderer: Renderer): Promise<readonly MediaOutput[] | undefined> {
  const { result } = job.directives
  const file = job.kind === 'image' ? 'image.png' : 'clip.mp4'
  if (result === 'refused') return [{ from: 'url', url: `http://169.254.169.254/${file}` }]
  // The top-level domain is reserved, so that it never resolves (RFC 6761).
  if (result === 'unreachable') return [{ from: 'url', url: `http://sandbox.invalid/${file}` }]
  const files = await Promise.all(job.renderings.map(rendering => renderer.render(rendering)))
  const made = files.filter(bytes => bytes !== undefined)
  return made.length < files.length ? undefined : made.map(bytes => ({ from: 'bytes', bytes }))
}

/** The reported length of a clip. A prompt can set a wrong one. */
function reportedDurationMs({ kind, directives, renderings }: SandboxJob): number | undefined {
  const { reported_s: reportedS } = directives
  if (kind === 'image' || reportedS === 'none') return undefined
  if (reportedS !== undefined) return Math.round(reportedS * 1000)
  const [clip] = renderings
  return clip?.file === 'clip' ? clip.durationMs : undefined
}
