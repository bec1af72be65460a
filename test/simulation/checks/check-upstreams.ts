import type { FailureReason } from '../../../src/domain/jobs/job.ts'
import type { AnyUpstream } from '../upstream.ts'
import type { UpstreamJob } from '../upstream-job.ts'
import type { World } from '../world.ts'
import { lossOf, type EndedJob } from './ended-jobs.ts'
import { excuseFor, hasLostFile } from './excuses.ts'
import { expectedCost, expectedLoss } from './expected-cost.ts'

const WATCH_MS = 86_400_000
/** A call that was made before the end of a watch, or on a node whose clock is slow. */
const CALL_MS_MAX = 300_000
/** The longest pause that a provider asks for after a failed poll, and some. */
const RETRY_MS_MAX = 70_000
const SKEW_MS = 5000

type Context = { readonly upstream: AnyUpstream; readonly world: World }
/** A job of a provider, and the job of ours that it was made for. */
type Pair = { readonly made: UpstreamJob; readonly ours: EndedJob }

/**
 * Each job that a provider charges for is paid by its customer, or booked as a loss, or there is a reason why the
 * gateway could not know of it. Nothing is paid or booked that no provider made. Returns how often each of these ends
 * was.
 */
export function checkUpstreams(
  world: World,
  ended: ReadonlyMap<string, EndedJob>,
): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  const seen = new Set<string>()
  for (const upstream of world.upstreams.values()) {
    for (const made of upstream.ledger.jobs) {
      seen.add(made.jobId)
      const ours = ended.get(made.jobId)
      if (ours === undefined) {
        world.violated(`${upstream.traits.id} has a job ${made.jobId} that the store does not have`)
        continue
      }
      const pair = { made, ours }
      const end = endOf(pair, { upstream, world })
      ends.set(end, (ends.get(end) ?? 0) + 1)
      const problems = [
        ...moneyProblems(pair, world),
        ...stateProblems(pair, world),
        ...unheardProblems(pair, { upstream, world }),
        ...delays(pair, { upstream, world }),
      ]
      for (const problem of problems) world.violated(`${made.jobId}, ${made.upstreamId}, ${problem}`)
    }
  }
  for (const [id, ours] of ended)
    if (!seen.has(id) && isSettled(ours)) world.violated(`${id} was paid or booked, and no provider has it`)
  return ends
}

function endOf({ made, ours }: Pair, context: Context): string {
  const { job } = ours
  const { world, upstream } = context
  if (!isCharged(made, world)) {
    if (isSettled(ours)) world.violated(`${made.jobId} was paid or booked, and its provider never made it`)
    return 'made nothing, and cost nothing'
  }
  if (job.state === 'completed') return 'paid by the customer'
  if (lossOf(ours) !== undefined) return 'booked as a loss'
  const excuse = excuseFor(made, job, context)
  if (excuse !== undefined) return excuse
  world.violated(
    `${made.jobId} was made by ${upstream.traits.id}, and was neither paid nor booked. It failed as ${job.failure?.reason}; the submit was answered with ${made.answer}.`,
  )
  return 'not explained'
}

/** Whether the provider charges for a job by the end of the run. */
function isCharged({ ending, endsAtMs, result }: UpstreamJob, { scheduler }: World): boolean {
  return ending === 'finished' && endsAtMs <= scheduler.nowMs && result.outputs.length > 0
}

function isSettled(ours: EndedJob): boolean {
  return ours.job.state === 'completed' || lossOf(ours) !== undefined
}

function* moneyProblems({ made, ours }: Pair, world: World): Generator<string> {
  const { state, cost, loss: booked } = ours.job
  const expected = expectedCost(ours.job, made.result, world)
  const loss = expectedLoss(ours.job, made.result)
  if (state === 'completed' && cost !== expected) yield `costs ${cost} instead of ${expected}`
  if (booked !== null && booked !== loss) yield `was booked as a loss of ${booked} instead of ${loss}`
}

function* stateProblems({ made, ours }: Pair, world: World): Generator<string> {
  const { state, upstreamId, failure, changedAtMs } = ours.job
  const isMade = made.ending === 'finished' && made.result.outputs.length > 0
  if (state === 'completed' && upstreamId !== null && upstreamId !== made.upstreamId)
    yield `was completed by ${upstreamId}`
  if (failure?.reason === 'generation_failed' && isMade) yield 'failed, and its provider made it'
  if (failure?.reason === 'result_lost' && !hasLostFile(made, ours.job, world))
    yield 'lost its result, which could be fetched'
  if (state === 'failed' && made.askedAtMs > changedAtMs + WATCH_MS + CALL_MS_MAX)
    yield 'was asked for after its watch was over'
}

/** Reasons that only an answer to the submit can give. */
const ANSWERED: ReadonlySet<FailureReason> = new Set([
  'rejected',
  'rate_limited',
  'provider_unavailable',
  'no_job_id',
])

/**
 * A job that its provider has, and whose submit got no usable answer, holds its money for the time of an unknown
 * submit.
 */
function* unheardProblems({ made, ours }: Pair, { upstream, world }: Context): Generator<string> {
  const { state, failure, changedAtMs, submittedAtMs, upstreamId } = ours.job
  if (made.answer !== 'nothing' || state !== 'failed') return
  if (failure !== null && ANSWERED.has(failure.reason))
    yield `failed as ${failure.reason}, and its submit was not answered`
  if (upstreamId !== null || upstream.traits.recovers || submittedAtMs === null) return
  const ownDeadlineAtMs = world.created.get(made.jobId)?.deadlineAtMs ?? Infinity
  const heldUntilMs = Math.min(submittedAtMs + world.settings.unknownSubmitTtlMs, ownDeadlineAtMs)
  if (changedAtMs + SKEW_MS < heldUntilMs)
    yield `was released ${heldUntilMs - changedAtMs} ms before the time of its unknown submit was over`
}

/** A job whose result a pass without faults could have fetched before the deadline must not be released. */
function* delays({ made, ours }: Pair, { upstream, world }: Context): Generator<string> {
  const { job } = ours
  const { upstreamId, failure, deadlineAtMs } = job
  const isReleased = failure?.reason === 'overdue' || failure?.reason === 'submit_unconfirmed'
  const isFindable = upstreamId !== null || upstream.traits.recovers
  if (!isReleased || !isFindable || !isCharged(made, world) || hasLostFile(made, job, world)) return
  const readyAtMs = Math.max(made.endsAtMs, world.calmAtMs) + RETRY_MS_MAX
  const isMissed = world.calmPasses.some(
    ({ startedAtMs, endedAtMs }) => startedAtMs > readyAtMs && endedAtMs + SKEW_MS < deadlineAtMs,
  )
  if (isMissed) yield `was released as ${failure.reason}, although a pass could have settled it`
}
