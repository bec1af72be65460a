import type { Job } from '../../domain/jobs/job.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { MediaResult } from '../ports/media-provider.ts'
import type { Slots } from './slots.ts'
import { storeOutputs, type StoredOutputs, type StoreOutputsPorts } from './store-outputs.ts'

/** Results that one node fetches at a time: each has a connection and a file, and may take minutes. */
export const RESULT_FETCHES_MAX = 32

/** The status of a job while its result is being fetched, instead of the provider's status. */
export const FINISHED_STATUS = 'finished'

/** How long other nodes do not poll a job while its result is being fetched, and how often this is renewed. */
const CLAIM_MS = 15_000
const CLAIM_AGAIN_MS = 5000

export type FetchResultPorts = StoreOutputsPorts & {
  readonly jobs: Pick<Jobs, 'notePoll'>
  readonly clock: Clock
  readonly resultFetches: Slots
  /** Called with errors that happen outside of any request. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Stores the files of a result. Links are fetched in turn with the other fetches of this node. During a fetch, the
 * job's next poll is repeatedly postponed, so that no other node fetches the same result. If this node dies, another
 * one starts the fetch within seconds. A blob store that cannot be written does not end a job: its result is
 * unavailable for now.
 */
export async function fetchResult(
  job: Job,
  result: MediaResult,
  ports: FetchResultPorts,
): Promise<StoredOutputs> {
  const hasLinks = result.outputs.some(({ from }) => from === 'url')
  // Nothing polls a job without an upstream id.
  const endClaim = hasLinks && job.upstreamId !== null ? await claim(job, ports) : () => undefined
  try {
    const store = () => storeOutputs(job, result, ports)
    return await (hasLinks ? ports.resultFetches.run(store) : store())
  } catch (error) {
    ports.onFailed(error)
    return { outcome: 'unavailable', problem: 'The result could not be stored.' }
  } finally {
    endClaim()
  }
}

/** Returns a function that ends the claim. */
async function claim({ id }: Job, { jobs, clock, onFailed }: FetchResultPorts): Promise<() => void> {
  const put = () =>
    jobs.notePoll(id, { nextPollAtMs: clock.now() + CLAIM_MS, upstreamStatus: FINISHED_STATUS })
  let cancel = () => {}
  const putRegularly = () => {
    cancel = clock.after(CLAIM_AGAIN_MS, () => {
      put().catch(onFailed)
      putRegularly()
    })
  }
  await put()
  putRegularly()
  return () => cancel()
}
