import type { Job } from '../../../src/domain/jobs/job.ts'
import type { AnyUpstream } from '../upstream.ts'
import type { UpstreamJob } from '../upstream-job.ts'
import type { World } from '../world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const WATCH_MS = 24 * HOUR
/** The time between two passes at the end of a run. */
const PASS_MS = 2 * HOUR + 10 * MINUTE
/** A node that pauses learns of an answer late, and records it later. */
const RECORD_MS = HOUR

type Context = { readonly upstream: AnyUpstream; readonly world: World }

/**
 * Why a job that its provider charges for is neither paid nor booked. Undefined where there is no good reason. Reasons
 * are read off what the provider did and when nodes died, not off what the gateway says.
 */
export function excuseFor(made: UpstreamJob, job: Job, context: Context): string | undefined {
  const excuses = [
    {
      excuse: 'the submit was answered without its id',
      holds: job.failure?.reason === 'no_job_id' && isNameless(made) && !context.upstream.traits.recovers,
    },
    { excuse: 'finished after the watch', holds: made.endsAtMs > job.changedAtMs + WATCH_MS - PASS_MS },
    {
      excuse: 'no node could learn of it',
      holds: job.upstreamId === null && !context.upstream.traits.recovers && isUnheard(made, context.world),
    },
  ]
  return excuses.find(({ holds }) => holds)?.excuse
}

/** Whether a file of the result can never be fetched, or not any more. */
export function hasLostFile({ result }: UpstreamJob, { request }: Job, { files }: World): boolean {
  return result.outputs.slice(0, request.count).some(output => {
    if (output.from !== 'url') return output.from === 'lost'
    return ['never', 'refused', 'expires'].includes(files.find(output.url).availability.kind)
  })
}

function isNameless({ answer }: UpstreamJob): boolean {
  return answer === 'no id' || answer === 'the id of another job'
}

/** The answer to the submit never came, or its node could not record it. */
function isUnheard({ answer, answeredAtMs, submitter }: UpstreamJob, world: World): boolean {
  if (answer === 'nothing' || answeredAtMs === undefined) return true
  const untilMs = answeredAtMs + RECORD_MS
  return (
    submitter.diedAtMs <= untilMs ||
    world.fullDisks.some(atMs => atMs >= answeredAtMs - MINUTE && atMs <= untilMs)
  )
}
