import type { Id, IdPrefix } from '../ids.ts'
import type { Attribution } from '../ledger/attribution.ts'
import type { NanoUsd } from '../money.ts'
import type { ImageTariff, VideoTariff } from '../pricing/tariff.ts'
import type { ExtraOutputType } from './output-types.ts'
import type { Params } from './params.ts'

export type JobKind = 'image' | 'video'

/** The prefix of the id by which clients and providers know a job. */
export const jobIdPrefix = { image: 'img', video: 'vid' } as const satisfies Record<JobKind, IdPrefix>

/**
 * - `queued`: recorded and its money reserved; the provider has not answered the submission. Clients of videos see
 *   `pending`.
 * - `processing`: the provider accepted it and has not finished it.
 * - `unknown_submit`: the submission may have reached the provider, and it is not known whether the provider accepted
 *   it.
 * - `completed`, `failed`: final.
 */
export type JobState = 'queued' | 'processing' | 'unknown_submit' | 'completed' | 'failed'

/** The states of jobs that have not ended. Their money is held. */
export const openStates = ['queued', 'processing', 'unknown_submit'] as const satisfies readonly JobState[]
export type OpenState = (typeof openStates)[number]

/** The states that may follow each state. A job never goes back, and never leaves a final state. */
export const jobTransitions = {
  queued: ['processing', 'unknown_submit', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  // `processing` if the reconciler finds the job running at its provider.
  unknown_submit: ['processing', 'completed', 'failed'],
  completed: [],
  failed: [],
} as const satisfies Record<JobState, readonly JobState[]>

export function mayFollow(from: JobState, to: JobState): boolean {
  return (jobTransitions[from] as readonly JobState[]).includes(to)
}

export function isFinal(state: JobState): state is 'completed' | 'failed' {
  return jobTransitions[state].length === 0
}

/** A submission begins once, and is never repeated: the provider may have the job. */
export function maySubmit({ state, submittedAtMs }: Pick<Job, 'state' | 'submittedAtMs'>): boolean {
  return state === 'queued' && submittedAtMs === null
}

/** How long the idempotency key of a media request is kept. */
export const KEY_TTL_MS = 86_400_000

/** Why a job failed. */
export type FailureReason =
  /** The provider refused the submission with a 4xx. */
  | 'rejected'
  /** The provider refused the submission with a 429. */
  | 'rate_limited'
  /** The provider refused the operator: its key, its credit. */
  | 'provider_unavailable'
  /**
   * Nothing was sent, because of the operator's settings: the variable of the provider's key is not set, for example.
   */
  | 'not_configured'
  /** The provider answered the submission with a success that names no job. */
  | 'no_job_id'
  /** The provider accepted the job and could not make the result. */
  | 'generation_failed'
  /** It is not known whether the provider accepted the job, and the time to find out is over. */
  | 'submit_unconfirmed'
  /** The job was not finished within its time to live. */
  | 'overdue'
  /** The provider made a result that can never be fetched. */
  | 'result_lost'

export type Failure = {
  readonly reason: FailureReason
  /** The provider's code, or the gateway's. */
  readonly code?: string
  /** For the client. */
  readonly message: string
  /** How long the provider asks to wait before another try. */
  readonly retryAfterS?: number
}

/** A file in the blob store. */
export type StoredFile = {
  readonly key: string
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string
  readonly bytes: number
  readonly mediaType: string
}

/** What the client asked for, as far as the provider needs it. */
export type JobRequest = {
  readonly prompt: string
  /** Fields of the row's allowlist, each with a value of its set, and the row's fixed parameters. */
  readonly params: Params
  /** Images asked for; 1 for a video. It sizes the hold and the charge, and never goes to the provider. */
  readonly count: number
  /** The duration that the provider gets, in milliseconds. Videos only. */
  readonly durationMs?: number
  readonly images: readonly JobInput[]
  readonly videos: readonly JobInput[]
  /** The provider's id of an earlier job of the same account, to continue from. */
  readonly refUpstreamId?: string
  /** The public id of an earlier job of the same account whose clip the provider gets, to continue from. */
  readonly refJobId?: string
  /** For storyboard engines: any JSON value except null, as it came. */
  readonly scenes?: unknown
  /** Formats of results that the row had besides the usual ones when the job was created. */
  readonly outputTypes?: readonly ExtraOutputType[]
}

/** Everything that the provider works on. */
export type JobInputs = Pick<JobRequest, 'images' | 'videos'>

export type JobInput =
  /** Passed on as a link. */
  | { readonly from: 'url'; readonly url: string }
  | { readonly from: 'file'; readonly file: StoredFile }
  /** The provider's own id of a file. */
  | { readonly from: 'provider_id'; readonly id: string }

/**
 * The price at the creation of the job, and the quantity that is held for. Settlement never reads the current price.
 */
export type MediaQuote =
  /** The request's `count` is held for. */
  | { readonly kind: 'images'; readonly tariff: ImageTariff; readonly providerTariff?: ImageTariff }
  | {
      readonly kind: 'video'
      readonly tariff: VideoTariff
      readonly heldMs: number
      /** The `cost` of the upstream: what the provider bills, if it does not report it. */
      readonly providerTariff?: VideoTariff
    }

export type Job = Attribution & {
  readonly id: Id
  /** Of the request that created it. Null if an earlier version did, which did not store it. */
  readonly requestId: Id | null
  readonly kind: JobKind
  readonly state: JobState
  readonly accountId: number
  readonly apiKeyId: number
  readonly route: string
  /** The catalog row's name. */
  readonly model: string
  readonly provider: string
  /** The provider's own name for the model. */
  readonly upstreamModel: string
  readonly request: JobRequest
  readonly quote: MediaQuote
  /** The amount that is held while the job runs. */
  readonly held: NanoUsd
  /** The node that recorded the job, and submits it. */
  readonly node: string
  readonly createdAtMs: number
  /** When the state last changed. */
  readonly changedAtMs: number
  /** When the submission began. Durable before its first byte leaves; a submission is never repeated. */
  readonly submittedAtMs: number | null
  /** The provider's id of the job. */
  readonly upstreamId: string | null
  /** The provider's state word of the last poll, for the operator. */
  readonly upstreamStatus: string | null
  /** The latest problem, for the operator. */
  readonly problem: string | null
  readonly nextPollAtMs: number
  /** When the job fails and its hold is released, if it has not ended before. */
  readonly deadlineAtMs: number
  /** When it is `completed`. */
  readonly outputs: readonly StoredFile[]
  readonly durationMs: number | null
  readonly cost: NanoUsd | null
  readonly failure: Failure | null
  readonly archivedAtMs: number | null
  /** Until when a failed job is watched for a late end at its provider. Null if it is not watched, or no longer. */
  readonly watchUntilMs: number | null
  /** The price of a result that the provider made and the customer did not get. It was booked as a loss. */
  readonly loss: NanoUsd | null
  /**
   * The cost of the job, also if it failed: as the provider reported it, or else at the prices of the row. Null if it
   * is not known. For the operator only.
   */
  readonly providerCost: NanoUsd | null
}
