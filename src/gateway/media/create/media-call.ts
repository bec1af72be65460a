import type { Id } from '../../../domain/ids.ts'
import type { Job, JobState } from '../../../domain/jobs/job.ts'
import type { RefusedBy } from '../../ports/requests/request-records.ts'
import type { StrictestRates } from '../../../domain/limits/admission.ts'
import type { Attribution } from '../../../domain/ledger/attribution.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { MediaBody } from '../../../protocol/media/media-body.ts'
import type { Authenticated } from '../../ports/access/api-keys.ts'
import type { RecordedAttempt } from '../../ports/requests/request-records.ts'
import type { CallerSignal } from '../../ports/caller-signal.ts'
import { publicId } from '../job-id.ts'

/** One request of a customer on a media route, read completely but not yet parsed. */
export type MediaCall = {
  readonly id: Id
  /** The id of the job that the request makes. Its files are already in the blob store under this id. */
  readonly jobId: Id
  readonly route: string
  readonly caller: Authenticated
  readonly body: MediaBody
  /** The body was a form, so that all values are texts. */
  readonly isForm: boolean
  /** The client's key and the fingerprint of its request. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string }
  readonly client: { readonly signal: CallerSignal }
  /** For whom the request was made: the tags of its header and the user of its body. */
  readonly attribution: Attribution
  readonly record: MediaRecord
}

/** The facts about a finished media request, for the log line and the metrics. */
export type MediaRecord = {
  model?: string
  /** The end user that the request names. */
  userId?: string
  provider?: string
  jobId?: string
  jobState?: JobState
  /** The code of a job that failed, or whose submission got no answer. It may be the provider's. */
  errorCode?: string
  /** Who has to act on that error. */
  jobFault?: 'client' | 'provider'
  cost?: NanoUsd
  /** The amount that was held for the job. */
  held?: NanoUsd
  /** The submission to the provider, if there was one. */
  attempts?: readonly RecordedAttempt[]
  isReplay?: boolean
  /** What is left of the strictest limits of the caller. */
  rates?: StrictestRates
  /** The limit or budget that refused the request. */
  refusedBy?: RefusedBy
}

/** Records the state of a request's job at the time of the reply. */
export function noteJob(record: MediaRecord, job: Job): void {
  record.jobId = publicId(job)
  record.jobState = job.state
  record.model = job.model
  record.provider = job.provider
  if (job.cost !== null) record.cost = job.cost
  record.held = job.held
  const { state, failure } = job
  if (job.submittedAtMs !== null) record.attempts = [submissionOf(job)]
  if (state !== 'failed' && state !== 'unknown_submit') return
  record.errorCode = failure?.code ?? failure?.reason ?? state
  record.jobFault = isClientFault(job) ? 'client' : 'provider'
}

function submissionOf({ provider, state, failure }: Job): RecordedAttempt {
  const reason = failure?.reason ?? (state === 'unknown_submit' ? 'no_answer' : undefined)
  return reason === undefined ? { provider } : { provider, reason }
}

/** Whether the provider rejected the submission. Every other failure is one of the provider, or of how it is set up. */
export function isClientFault({ failure }: Pick<Job, 'failure'>): boolean {
  return failure?.reason === 'rejected'
}
