import type {
  Failure,
  Job,
  JobInputs,
  JobKind,
  JobState,
  OpenState,
  StoredFile,
} from '../../../domain/jobs/job.ts'
import type { Id } from '../../../domain/ids.ts'
import type { StrictestRates } from '../../../domain/limits/admission.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { ImageTokens } from '../../../domain/pricing/image-tokens.ts'
import type { HoldOutcome } from '../ledger/ledger.ts'

/**
 * Media jobs and their money. Each method is one atomic, durable step: the job's state, its hold, the entries and the
 * stored result move together or not at all. State changes are compare-and-set: if several callers see the same end,
 * one changes the job, and the others get the changed job. Repeating a step changes nothing.
 */
export interface Jobs {
  /**
   * Records a job of this node as `queued` and holds its money, which is released or captured with the job. Refuses,
   * and writes nothing, if a limit, a budget or the balance does not cover it. A repeat, by the job's id or by its
   * idempotency key, gets the first job.
   */
  create(job: NewJob): Promise<Created>

  /** The job that an account made with an idempotency key, for as long as keys are kept. */
  findByKey(
    accountId: number,
    key: string,
    atMs: number,
  ): Promise<{ readonly fingerprint: string; readonly job: Job } | undefined>

  /**
   * Marks the submission as begun; durable when it resolves. `changed` for one caller only: a submission is never
   * repeated. With `inputs`, the job's inputs become these in the same step.
   */
  beginSubmit(id: Id, atMs: number, inputs?: JobInputs): Promise<Changed>

  /**
   * `queued` or `unknown_submit` → `processing`. Throws `UpstreamIdTakenError` if another job of the provider has the
   * upstream id. A job that was released before its provider answered stays `failed`, and is watched under the upstream
   * id.
   */
  accept(id: Id, to: AcceptedSubmission): Promise<Changed>

  /**
   * `queued` → `unknown_submit`. Its money stays held until `deadlineAtMs`. With `submittedAtMs`, the value that the
   * caller has read, a job whose submission has begun since then does not change.
   */
  loseSubmit(id: Id, to: LostSubmission): Promise<Changed>

  /** → `completed`: captures the hold with the cost, frees the rest, and records the result. Cost ≤ held. */
  complete(id: Id, result: JobResult): Promise<Changed>

  /**
   * → `failed`: releases the hold. `loss` is the price of a result that the provider made and the customer cannot get.
   * It is booked as a loss in the same step. With `deadlineAtMs`, the value that the caller has read, a job whose
   * deadline has changed since then does not change: the job was found at its provider.
   */
  fail(id: Id, failure: Failed): Promise<Changed>

  /**
   * Records a poll that left the job running. Never changes the job's state, and never makes its next poll earlier.
   * Only the end of a claim does: if `claimedUntilMs` is still the job's next poll, `nextPollAtMs` replaces it.
   */
  notePoll(id: Id, poll: NotedPoll): Promise<void>

  /**
   * The provider finished a job whose hold had been released: books its price as a loss, once, and ends the watch. The
   * job and the account's balance do not change. False if the job is not watched, or no longer.
   */
  bookLateCompletion(id: Id, late: LateCompletion): Promise<boolean>

  /** Ends the watch, because the provider can no longer finish the job. It may have billed it all the same. */
  endWatch(id: Id, end: EndedWatch): Promise<void>

  /** Marks the result of a completed job as archived. */
  archive(id: Id, atMs: number): Promise<Changed>

  find(id: Id): Promise<Job | undefined>

  /** The events of a job, oldest first. */
  history(id: Id): Promise<readonly JobEvent[]>

  /** Newest first unless the page says otherwise; of one account, or of all. */
  list(page: JobPage): Promise<{ readonly jobs: readonly Job[]; readonly next?: string }>

  /** The number of jobs of all nodes that have not ended, by state. */
  openCounts(): Promise<Readonly<Record<OpenState, number>>>

  /**
   * At most `limit` jobs that need work at an instant, in a stable order. `after` is the `next` of the previous page.
   * If a job no longer needs the work, the positions of the others do not change.
   */
  due(
    work: JobWork,
    page: DuePage & {
      /** Both kinds if it is absent. */
      readonly kind?: JobKind
    },
  ): Promise<{ readonly jobs: readonly Job[]; readonly next?: string }>

  /**
   * Like `due`, for the caller to ask the providers of the jobs: in the same step it moves the next poll of each job to
   * `untilMs`, and until then no claim on any node gets the job again. Of callers at the same time, one gets it. Gets
   * no job whose next poll is after `atMs`. The jobs are returned as they are then, so that their `nextPollAtMs` names
   * the claim. The caller ends the claim when it has recorded the provider's answer. If it dies before, the claim ends
   * at `untilMs`. A page that is full has a `next`.
   */
  claim(
    work: ProviderWork,
    page: DuePage & {
      /** Only this job. */
      readonly id?: Id
    },
    untilMs: number,
  ): Promise<{ readonly jobs: readonly Job[]; readonly next?: string }>

  /** Ends a claim: the job is due again at `atMs`. Changes nothing if the job's next poll was moved since the claim. */
  endClaim(id: Id, claim: { readonly claimedUntilMs: number; readonly atMs: number }): Promise<void>
}

export type DuePage = {
  readonly atMs: number
  readonly limit: number
  readonly after?: string
}

/** The kinds of work that the reconciler does for jobs. */
export type JobWork =
  /** `queued` by a process that has ended, as far as this node can know, so nothing will submit it. */
  | 'left_queued'
  /** `queued` on any node, and not changed since `atMs`. */
  | 'stale_queued'
  /** `processing`, and its next poll is due. */
  | 'poll'
  /** `unknown_submit`: ask the provider. */
  | 'recover'
  /** Not final, and its deadline is over. */
  | 'overdue'
  /** `failed` after its provider may have accepted it, and still watched at `atMs` for a late end. */
  | 'watch'
  /** `completed` before `atMs`, and not archived. */
  | 'archive'

/** The kinds of work that ask a provider. The others are compare-and-set in the store, and need no claim. */
export type ProviderWork = Extract<JobWork, 'poll' | 'recover' | 'watch'>

export type NewJob = Pick<
  Job,
  | 'id'
  | 'requestId'
  | 'tags'
  | 'userId'
  | 'kind'
  | 'accountId'
  | 'apiKeyId'
  | 'route'
  | 'model'
  | 'provider'
  | 'upstreamModel'
  | 'request'
  | 'quote'
  | 'held'
  | 'createdAtMs'
  | 'deadlineAtMs'
> & {
  /** A client's key, and the fingerprint of its request: a repeat with both gets the first job. Kept for 24 hours. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string }
}

export type Created =
  /** With what is left of the strictest limits. */
  | { readonly outcome: 'created'; readonly job: Job; readonly rates: StrictestRates }
  /** The account used the idempotency key before, for the same request. */
  | { readonly outcome: 'repeated'; readonly job: Job }
  /** The account used the idempotency key before, for another request. */
  | { readonly outcome: 'key_reused' }
  | Extract<HoldOutcome, { outcome: 'refused' | 'limited' }>

export type Failed = Failure & {
  readonly atMs: number
  /** What went wrong, for the operator. Absent if the message says all. */
  readonly problem?: string
  readonly loss?: NanoUsd
  /** The cost of the job that the provider reported. No customer pays it. */
  readonly providerCost?: NanoUsd
  /** The provider refused the submission as too slow (408). It may have the job, so the job is watched. */
  readonly timedOut?: boolean
  readonly deadlineAtMs?: number
}

export type LostSubmission = {
  readonly problem: string
  readonly atMs: number
  readonly deadlineAtMs: number
  readonly submittedAtMs?: number | null
}

/** The provider's answer to a submission that it accepted. */
export type AcceptedSubmission = {
  readonly upstreamId: string
  readonly atMs: number
  readonly nextPollAtMs: number
}

export type NotedPoll = {
  readonly nextPollAtMs: number
  readonly upstreamStatus?: string
  /** The earlier problem is removed if it is absent. */
  readonly problem?: string
  /** The end of the caller's claim, as the caller has read it. */
  readonly claimedUntilMs?: number
}

export type LateCompletion = {
  readonly cost: NanoUsd
  readonly providerCost?: NanoUsd
  readonly atMs: number
}

export type EndedWatch = { readonly detail: string; readonly providerCost?: NanoUsd; readonly atMs: number }

/** `changed` is true for the caller that made the change. */
export type Changed = { readonly changed: boolean; readonly job: Job }

export type JobResult = {
  readonly outputs: readonly StoredFile[]
  readonly cost: NanoUsd
  /** Images charged, and the tokens that they were charged by. */
  readonly count?: number
  readonly tokens?: ImageTokens
  /** The cost of the job that the provider reported. */
  readonly providerCost?: NanoUsd
  /** The clip's duration, and the part of it that is charged: no more than is held for. */
  readonly durationMs?: number
  readonly chargedMs?: number
  readonly atMs: number
}

export type JobEvent = { readonly state: JobState; readonly detail: string | null; readonly atMs: number }

export type JobPage = {
  readonly accountId?: number
  readonly kind?: JobKind
  readonly state?: JobState
  readonly limit: number
  /** The `next` of the page before. */
  readonly cursor?: string
  /** Oldest first. */
  readonly isOldestFirst?: boolean
  /** Only the jobs behind this one, in the order of the list. None if it does not exist. */
  readonly behind?: Id
}

/** A provider returned an id that another job already has. The id can belong to only one of them. */
export class UpstreamIdTakenError extends Error {
  override readonly name = 'UpstreamIdTakenError'
}
