import type { Upstream } from '../upstream.ts'
import type { UpstreamJob } from '../upstream-job.ts'
import type { World } from '../world.ts'
import { lossOf, type EndedJob } from './ended-jobs.ts'
import { excuseFor } from './excuses.ts'
import { expectedCost } from './expected-cost.ts'

const HOUR = 3_600_000
const WATCH_MS = 24 * HOUR
const CALL_MS_MAX = 300_000

/**
 * Each job that a provider charges for is paid by its customer, or booked as a loss, or there is a reason why the gateway could not
 * know of it. Nothing is paid or booked that no provider made. Returns how often each of these ends was.
 */
export function checkUpstreams(
  world: World,
  ended: ReadonlyMap<string, EndedJob>,
): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  const made = new Set<string>()
  for (const upstream of world.upstreams.values()) {
    for (const job of upstream.ledger.jobs) {
      made.add(job.jobId)
      const one = ended.get(job.jobId)
      if (one === undefined) {
        world.violated(`${upstream.traits.id} has a job ${job.jobId} that the store does not have`)
        continue
      }
      const end = endOf(job, one, { upstream, world })
      ends.set(end, (ends.get(end) ?? 0) + 1)
      for (const problem of problemsOf(job, one))
        world.violated(`${job.jobId}, ${job.upstreamId}, ${problem}`)
    }
  }
  for (const [id, one] of ended) {
    if (made.has(id)) continue
    if (one.job.state === 'completed' || lossOf(one) !== undefined)
      world.violated(`${id} was paid or booked, and no provider made it`)
  }
  return ends
}

function endOf(
  upstreamJob: UpstreamJob,
  one: EndedJob,
  { upstream, world }: { readonly upstream: Upstream; readonly world: World },
): string {
  const { job } = one
  const isMade =
    upstreamJob.ending === 'finished' &&
    upstreamJob.endsAtMs <= world.scheduler.nowMs &&
    upstreamJob.result.outputs.length > 0
  const loss = lossOf(one)
  if (!isMade) {
    if (job.state === 'completed' || loss !== undefined)
      world.violated(`${upstreamJob.jobId} was paid or booked, and its provider never made it`)
    return 'made nothing, and cost nothing'
  }
  if (job.state === 'completed') return 'paid by the customer'
  if (loss !== undefined) return 'booked as a loss'
  const excuse = excuseFor(upstreamJob, job, { upstream, world })
  if (excuse === undefined) {
    const { reason } = job.failure ?? {}
    world.violated(
      `${upstreamJob.jobId} was made by ${upstream.traits.id}, and was neither paid nor booked. It failed as ${reason}; the submit was answered with ${upstreamJob.answer}.`,
    )
  }
  return excuse ?? 'not explained'
}

function* problemsOf(upstreamJob: UpstreamJob, one: EndedJob): Generator<string> {
  const { job } = one
  const cost = expectedCost(job, upstreamJob.result)
  if (job.state === 'completed' && job.cost !== cost) yield `costs ${job.cost} instead of ${cost}`
  if (
    job.state === 'completed' &&
    upstreamJob.answer === 'its id' &&
    job.upstreamId !== upstreamJob.upstreamId
  )
    yield `was completed by ${job.upstreamId}`
  if (
    job.failure?.reason === 'generation_failed' &&
    upstreamJob.ending === 'finished' &&
    upstreamJob.result.outputs.length > 0
  )
    yield 'failed, and its provider made it'
  if (job.state === 'failed' && upstreamJob.askedAtMs > job.changedAtMs + WATCH_MS + CALL_MS_MAX)
    yield 'was asked for after its watch was over'
}
