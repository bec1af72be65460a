import type { Job } from '../../domain/jobs/job.ts'
import { FINISHED_STATUS } from './settle/fetch-result.ts'
import type { MediaProvider } from '../ports/providers/media-provider.ts'

/** The facts that decide what happens next to a job, besides the job itself. */
type Outlook = {
  /** Undefined if the provider is no longer in the catalog, or if the gateway cannot call it. */
  readonly provider: Pick<MediaProvider, 'recover'> | undefined
  /** How long results of this kind are kept; null if they are not archived. */
  readonly keptMs: number | null
}

export type JobExplanation = {
  readonly why: string
  /** Null if nothing more happens. */
  readonly next: string | null
  /** The earliest time of the next step; null if it is in progress. */
  readonly nextAtMs: number | null
}

/** Why a job is in its state, and what happens next, as sentences for the operator. */
export function explainJob(job: Job, outlook: Outlook): JobExplanation {
  return { why: whyOf(job), ...nextOf(job, outlook) }
}

function whyOf({ state, submittedAtMs, upstreamStatus, problem, failure, loss }: Job): string {
  const last = problem === null ? '' : ` The last problem: ${problem}`
  switch (state) {
    case 'queued':
      return submittedAtMs === null
        ? 'The job is recorded, and its submission has not begun.'
        : `The submission has begun, and its answer is not recorded.${last}`
    case 'processing':
      return `${progressOf(upstreamStatus)}${last}`
    case 'unknown_submit':
      return `The submission may have reached the provider, and no answer came.${last}`
    case 'completed':
      return 'The provider finished the job.'
    case 'failed': {
      const booked = loss === null ? '' : ' The provider made the result, and its price was booked as a loss.'
      return `${sentenceOf(failure)}${problem === failure?.message ? '' : last}${booked}`
    }
  }
}

/** The message of a failure is for the client. Of a provider that is not set up, the operator has to know more. */
function sentenceOf(failure: Job['failure']): string {
  if (failure?.reason === 'not_configured')
    return 'Nothing was sent, because the key of the provider is not set, or its row has a mistake. "tollgate doctor" says which.'
  return failure?.message ?? 'The job failed.'
}

function progressOf(upstreamStatus: string | null): string {
  if (upstreamStatus === null) return 'The provider accepted the job.'
  return upstreamStatus === FINISHED_STATUS
    ? 'The provider finished the job, and its result is being fetched.'
    : `The provider accepted the job and says "${upstreamStatus}".`
}

type Next = { readonly next: string | null; readonly nextAtMs: number | null }

const NOTHING: Next = { next: null, nextAtMs: null }

function nextOf(job: Job, { provider, keptMs }: Outlook): Next {
  const { state, deadlineAtMs, changedAtMs, archivedAtMs, watchUntilMs } = job
  const asked =
    provider === undefined ? 'Its provider is not in the catalog, so it cannot be asked.' : undefined
  switch (state) {
    case 'queued':
      return {
        next: 'Its node records the answer to the submission. If the node stops first, the submission becomes unknown.',
        nextAtMs: null,
      }
    case 'processing':
      return {
        next:
          asked ??
          'The provider is polled by the next pass of the reconciler, and by requests for the job before that.',
        nextAtMs: job.nextPollAtMs,
      }
    case 'unknown_submit':
      return {
        next: `${asked ?? search(provider)} Its reserve is released at the deadline.`,
        nextAtMs: deadlineAtMs,
      }
    case 'completed':
      return archivedAtMs !== null || keptMs === null
        ? NOTHING
        : { next: 'Its result is archived.', nextAtMs: changedAtMs + keptMs }
    case 'failed':
      return watchUntilMs === null || (job.upstreamId === null && provider?.recover === undefined)
        ? NOTHING
        : {
            next: 'Until then, the gateway asks the provider whether it finished the job late.',
            nextAtMs: watchUntilMs,
          }
  }
}

function search(provider: Outlook['provider']): string {
  return provider?.recover === undefined
    ? 'Its provider has no way to find the job.'
    : 'Each pass of the reconciler asks the provider for the job.'
}
