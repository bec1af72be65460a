import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { isFinal, type Job } from '../../../domain/jobs/job.ts'
import { pause, type Clock } from '../../ports/clock.ts'
import type { Changed, Jobs } from '../../ports/media/jobs.ts'
import type { MediaResult } from '../../ports/providers/media-provider.ts'
import { fetchResult, type FetchResultPorts, type NoMediaTries } from './fetch-result.ts'
import { NOTHING_MADE, RESULT_LOST, type SecretsPorts } from '../work/job-failures.ts'
import { priceResult, providerCostOf } from './price-result.ts'
import type { JobProviderPorts } from '../work/provider-of-job.ts'
import type { StoredOutputs } from './store-outputs.ts'

export type SettleJobPorts = SecretsPorts &
  FetchResultPorts &
  JobProviderPorts & {
    readonly jobs: Jobs
    readonly noMedia: NoMediaTries
    readonly clock: Clock
    /** Counts a provider's status that its adapter does not know. */
    readonly onUnknownStatus: (provider: string, status: string) => void
  }

/** The delay before a failed fetch of a result is tried again. */
export const FETCH_AGAIN_MS = 15_000
/**
 * The most fetches of a result that no poll can get again, or of a link that gives something other than an image or a
 * clip. For ten minutes, while each try fails at once.
 */
export const FETCHES_MAX = 40

/**
 * Ends a job that its provider finished: stores the result, and then completes the job with its charge in one step of
 * the store. The price is the job's own. If a result cannot be fetched now, the job does not change, and the next poll
 * gets the result again. A link that keeps giving something other than an image or a clip ends the job as a lost
 * result. If the money was released before, the price is booked as a loss. Safe to call more than once and on several
 * nodes: the job is charged once.
 */
export async function settleJob(job: Job, result: MediaResult, ports: SettleJobPorts): Promise<Job> {
  const { jobs, clock } = ports
  if (result.outputs.length === 0)
    return (
      await jobs.fail(job.id, { ...NOTHING_MADE, ...providerCostOf(job, result, ports), atMs: clock.now() })
    ).job
  const stored =
    job.upstreamId === null ? await storeOnlyCopy(job, result, ports) : await storeLinked(job, result, ports)
  if (stored.outcome === 'unavailable') {
    const nextPollAtMs = clock.now() + FETCH_AGAIN_MS
    const claimedUntilMs = job.nextPollAtMs
    await jobs.notePoll(job.id, { problem: stored.problem, nextPollAtMs, claimedUntilMs })
    return job
  }
  const ended = await endJob(job, { result, stored }, ports)
  ports.noMedia.forget(job.id)
  const wasReleased = !ended.changed && ended.job.state === 'failed'
  if (wasReleased) await bookLateResult(job, result, ports)
  return ended.job
}

function endJob(
  job: Job,
  {
    result,
    stored,
  }: { readonly result: MediaResult; readonly stored: Exclude<StoredOutputs, { outcome: 'unavailable' }> },
  ports: SettleJobPorts,
): Promise<Changed> {
  const { jobs } = ports
  const isLost = stored.outcome === 'lost'
  const price = priceResult(
    job,
    isLost ? result : { ...result, outputs: stored.files, clipMs: stored.clipMs },
  )
  const facts = { ...providerCostOf(job, result, ports, price), atMs: ports.clock.now() }
  return isLost
    ? jobs.fail(job.id, { ...RESULT_LOST, loss: price.cost, ...facts })
    : jobs.complete(job.id, { outputs: stored.files, ...price, ...facts })
}

/** Stores a result that the next poll can get again. Gives up a link that keeps giving something else. */
async function storeLinked(job: Job, result: MediaResult, ports: SettleJobPorts): Promise<StoredOutputs> {
  const stored = await fetchResult(job, result, ports)
  if (stored.outcome !== 'unavailable' || stored.isNoMedia !== true) return stored
  const tries = ports.noMedia.add(job.id)
  const problem = `${stored.problem} (try ${tries} of ${FETCHES_MAX})`
  return { outcome: tries < FETCHES_MAX ? 'unavailable' : 'lost', problem }
}

/**
 * Stores the result of a submission. No poll can get it again, so a fetch that fails for now is retried here, as long
 * as the job waits for it.
 */
async function storeOnlyCopy(job: Job, result: MediaResult, ports: SettleJobPorts): Promise<StoredOutputs> {
  const { jobs, clock } = ports
  for (let tries = 1; ; tries += 1) {
    const stored = await fetchResult(job, result, ports)
    if (stored.outcome !== 'unavailable') return stored
    const latest = await jobs.find(job.id)
    if (tries === FETCHES_MAX || latest === undefined || isFinal(latest.state))
      return { outcome: 'lost', problem: stored.problem }
    await jobs.notePoll(job.id, { problem: stored.problem, nextPollAtMs: clock.now() })
    await pause(clock, FETCH_AGAIN_MS)
  }
}

/**
 * Books the price of a result whose job was released before, once, as a loss, at the job's own tariff. The job and the
 * account's balance do not change. True if this call booked it.
 */
export async function bookLateResult(
  job: Job,
  result: MediaResult,
  ports: {
    readonly jobs: Pick<Jobs, 'bookLateCompletion'>
    readonly clock: Clock
    readonly catalog: { current(): Catalog }
  },
): Promise<boolean> {
  if (result.outputs.length === 0) return false
  const price = priceResult(job, result)
  const facts = { ...providerCostOf(job, result, ports, price), atMs: ports.clock.now() }
  return ports.jobs.bookLateCompletion(job.id, { cost: price.cost, ...facts })
}
