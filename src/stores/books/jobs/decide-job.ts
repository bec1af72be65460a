import { formatId } from '../../../domain/ids.ts'
import { isFinal, mayFollow, maySubmit, type Job, type JobInputs } from '../../../domain/jobs/job.ts'
import { isWatched, mayBeAcceptedLate, releaseWatchMs } from '../../../domain/jobs/watch.ts'
import { losing } from '../../../domain/ledger/attempt.ts'
import { attributionOf } from '../../../domain/ledger/attribution.ts'
import type { Movement } from '../../../domain/ledger/post.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import {
  UpstreamIdTakenError,
  type AcceptedSubmission,
  type EndedWatch,
  type Failed,
  type JobEvent,
  type JobResult,
  type LateCompletion,
  type LostSubmission,
  type NewJob,
  type NotedPoll,
} from '../../../gateway/ports/media/jobs.ts'
import { jobFrom, newJobRow, type JobProgress, type JobRow } from './job-rows.ts'

/** The rows that a store reads before a step of a job. */
export type JobFacts = {
  readonly row: JobRow
  /** Whether a job of the provider has the upstream id that the command names. */
  readonly isUpstreamIdTaken: boolean
}

/** The steps of `Jobs`, except the creation. */
export type JobCommand =
  | { readonly step: 'begin_submit'; readonly atMs: number; readonly inputs?: JobInputs | undefined }
  | ({ readonly step: 'accept' } & AcceptedSubmission)
  | ({ readonly step: 'lose_submit' } & LostSubmission)
  | ({ readonly step: 'complete' } & JobResult)
  | ({ readonly step: 'fail' } & Failed)
  | ({ readonly step: 'note_poll' } & NotedPoll)
  | ({ readonly step: 'book_late_completion' } & LateCompletion)
  | ({ readonly step: 'end_watch' } & EndedWatch)
  | { readonly step: 'archive'; readonly atMs: number }

/** The outcome of a step, and what the store writes for it, in one transaction. */
export type JobDecision = {
  /** True for the caller whose step made the change that it asked for. */
  readonly changed: boolean
  readonly writes?: JobWrites
}

/** In the order in which they are written. */
export type JobWrites = {
  /** Captures the hold of the job. */
  readonly charge?: Charge
  /** Releases the hold of the job. */
  readonly releasedAtMs?: number
  /** The operation that books a loss. The row id that it gets is the job's `loss_by`. */
  readonly loss?: LossOperation
  /** The columns of the job that change. */
  readonly columns: Partial<JobProgress>
  /** For the history, with the columns of the job as they are then. */
  readonly event?: JobEvent
}

export type LossOperation = {
  readonly kind: 'loss'
  readonly subject: Job['id']
  readonly movements: readonly Movement[]
  readonly atMs: number
}

const NOTHING: JobDecision = { changed: false }

/**
 * Decides a step of a job from the row that was read in the same transaction. The store writes all of it or nothing,
 * and only if the job still has the state of that row. Throws `UpstreamIdTakenError`.
 */
export function decideJob(facts: JobFacts, command: JobCommand): JobDecision {
  const job = jobFrom(facts.row)
  switch (command.step) {
    case 'begin_submit':
      return beginSubmit(job, command)
    case 'accept':
      return accept(job, command, facts)
    case 'lose_submit':
      return loseSubmit(job, command)
    case 'complete':
      return complete(job, command)
    case 'fail':
      return fail(job, command)
    case 'note_poll':
      return notePoll(job, command)
    case 'book_late_completion':
      return bookLateCompletion(job, command)
    case 'end_watch':
      return endWatch(job, command)
    case 'archive':
      return archive(job, command.atMs)
  }
}

/** The inputs replace those of the request. */
function beginSubmit(
  job: Job,
  { atMs, inputs }: { readonly atMs: number; readonly inputs?: JobInputs | undefined },
): JobDecision {
  if (!maySubmit(job)) return NOTHING
  const request = inputs && { request: JSON.stringify({ ...job.request, ...inputs }) }
  return {
    changed: true,
    writes: {
      columns: { submitted_at_ms: BigInt(atMs), ...request },
      event: { state: job.state, detail: SUBMISSION_BEGAN, atMs },
    },
  }
}

/**
 * A job that is found after an unknown submission gets the deadline of its creation again. A job that was released
 * before stays failed, and is watched under the upstream id.
 */
function accept(
  job: Job,
  { upstreamId, atMs, nextPollAtMs }: AcceptedSubmission,
  { row, isUpstreamIdTaken }: JobFacts,
): JobDecision {
  const isLate = mayBeAcceptedLate(job)
  if (!isLate && !mayFollow(job.state, 'processing')) return NOTHING
  if (isUpstreamIdTaken)
    throw new UpstreamIdTakenError(`The upstream id of ${formatId('op', job.id)} belongs to another job.`)
  if (isLate) {
    const event = { state: job.state, detail: ACCEPTED_LATE, atMs }
    return { changed: false, writes: { columns: { upstream_id: upstreamId }, event } }
  }
  return {
    changed: true,
    writes: {
      columns: {
        ...moved('processing', atMs),
        upstream_id: upstreamId,
        next_poll_at_ms: BigInt(nextPollAtMs),
        deadline_at_ms: row.job_deadline_at_ms,
        problem: null,
      },
      event: { state: 'processing', detail: null, atMs },
    },
  }
}

function loseSubmit(job: Job, { problem, atMs, deadlineAtMs, submittedAtMs }: LostSubmission): JobDecision {
  if (!mayFollow(job.state, 'unknown_submit')) return NOTHING
  if (submittedAtMs !== undefined && submittedAtMs !== job.submittedAtMs) return NOTHING
  return {
    changed: true,
    writes: {
      columns: { ...moved('unknown_submit', atMs), problem, deadline_at_ms: BigInt(deadlineAtMs) },
      event: { state: 'unknown_submit', detail: problem, atMs },
    },
  }
}

function complete(job: Job, result: JobResult): JobDecision {
  if (!mayFollow(job.state, 'completed')) return NOTHING
  const { outputs, durationMs, cost, providerCost, atMs } = result
  return {
    changed: true,
    writes: {
      charge: chargeOf(job, result),
      columns: {
        ...moved('completed', atMs),
        outputs: JSON.stringify(outputs),
        duration_ms: durationMs === undefined ? null : BigInt(durationMs),
        cost,
        problem: null,
        ...reported(providerCost),
      },
      event: { state: 'completed', detail: null, atMs },
    },
  }
}

function fail(job: Job, failure: Failed): JobDecision {
  const { reason, code, message, retryAfterS, atMs, loss, providerCost, timedOut = false } = failure
  if (failure.deadlineAtMs !== undefined && failure.deadlineAtMs !== job.deadlineAtMs) return NOTHING
  if (!mayFollow(job.state, 'failed')) return NOTHING
  const watchMs = releaseWatchMs(reason, { isSubmitted: job.submittedAtMs !== null, timedOut })
  const { problem = lastsBeyond(reason) ? job.problem : null } = failure
  const booked = loss === undefined ? undefined : lossOf(job, loss, atMs)
  return {
    changed: true,
    writes: {
      releasedAtMs: atMs,
      ...(booked && { loss: booked.operation }),
      columns: {
        ...moved('failed', atMs),
        failure_reason: reason,
        failure_code: code ?? null,
        failure_message: message,
        problem,
        failure_retry_after_s: retryAfterS === undefined ? null : BigInt(retryAfterS),
        watch_until_ms: watchMs === null ? null : BigInt(atMs + watchMs),
        // The watch does not wait for the next poll that the provider asked for, or for the end of a claim.
        ...(watchMs === null ? {} : { next_poll_at_ms: BigInt(atMs) }),
        ...reported(providerCost),
        ...booked?.columns,
      },
      event: { state: 'failed', detail: reason, atMs },
    },
  }
}

/** Whether the last problem explains why the time of a job ended. After an answer it is outdated. */
function lastsBeyond(reason: Failed['reason']): boolean {
  return reason === 'overdue' || reason === 'submit_unconfirmed' || reason === 'result_lost'
}

/** Leaves no event, because a job is polled many times. */
function notePoll(job: Job, poll: NotedPoll): JobDecision {
  if (isFinal(job.state)) return NOTHING
  const { nextPollAtMs, upstreamStatus, problem, claimedUntilMs } = poll
  const earliestMs = claimedUntilMs === job.nextPollAtMs ? nextPollAtMs : job.nextPollAtMs
  return {
    changed: false,
    writes: {
      columns: {
        next_poll_at_ms: BigInt(Math.max(earliestMs, nextPollAtMs)),
        upstream_status: upstreamStatus ?? job.upstreamStatus,
        problem: problem ?? null,
      },
    },
  }
}

function bookLateCompletion(job: Job, { cost, providerCost, atMs }: LateCompletion): JobDecision {
  if (!isWatched(job, atMs)) return NOTHING
  const { operation, columns } = lossOf(job, cost, atMs)
  return {
    changed: true,
    writes: {
      loss: operation,
      columns: { watch_until_ms: null, ...reported(providerCost), ...columns },
      event: { state: job.state, detail: COMPLETED_LATE, atMs },
    },
  }
}

function endWatch(job: Job, { detail, providerCost, atMs }: EndedWatch): JobDecision {
  if (!isWatched(job, atMs)) return NOTHING
  return {
    changed: true,
    writes: {
      columns: { watch_until_ms: null, ...reported(providerCost) },
      event: { state: job.state, detail, atMs },
    },
  }
}

function archive(job: Job, atMs: number): JobDecision {
  if (job.state !== 'completed' || job.archivedAtMs !== null) return NOTHING
  return {
    changed: true,
    writes: {
      columns: { archived_at_ms: BigInt(atMs) },
      event: { state: 'completed', detail: ARCHIVED, atMs },
    },
  }
}

const SUBMISSION_BEGAN = 'The submission began.'
const ACCEPTED_LATE = 'The provider accepted the job after its reserve was released.'
const COMPLETED_LATE =
  'The provider finished the job after its reserve was released. Its price was booked as a loss.'
const ARCHIVED = 'The result was archived.'

function moved(state: JobProgress['state'], atMs: number) {
  return { state, changed_at_ms: BigInt(atMs) }
}

/** The cost that the provider reported. A step without one keeps the one before. */
function reported(providerCost: NanoUsd | undefined): Partial<JobProgress> {
  return providerCost === undefined ? {} : { provider_cost: providerCost }
}

/** A result that the provider made and the customer did not get. */
function lossOf({ id: subject }: Job, loss: NanoUsd, atMs: number) {
  const operation: LossOperation = { kind: 'loss', subject, movements: losing(loss), atMs }
  return { operation, columns: { loss, loss_at_ms: BigInt(atMs) } }
}

/** A job's hold has the job's id. */
export function holdOf({ id, accountId, held }: Pick<Job, 'id' | 'accountId' | 'held'>): Hold {
  return { id, accountId, kind: 'media', amount: held }
}

function chargeOf(job: Job, result: JobResult): Charge {
  const { quote, route, apiKeyId, model, provider } = job
  const { cost, count = 0, tokens, chargedMs = 0, providerCost = null, atMs } = result
  const common = { ...attributionOf(job), cost, providerCost, route, apiKeyId, model, provider, atMs }
  return quote.kind === 'images'
    ? { kind: 'images', ...common, images: count, ...(tokens && { tokens }), tariff: quote.tariff }
    : { kind: 'video', ...common, durationMs: chargedMs, tariff: quote.tariff }
}

/** The rows that a store reads before it creates a job. */
export type CreationReads = {
  /** The job that has the id. */
  readonly sameId?: JobRow | undefined
  /** The job that the account made with the idempotency key, and the fingerprint of its request. */
  readonly sameKey?: { readonly fingerprint: string; readonly row: JobRow } | undefined
}

export type CreationDecision =
  | { readonly outcome: 'repeated'; readonly job: Job }
  | { readonly outcome: 'key_reused' }
  /** Everything is written if the balance covers the hold, and nothing otherwise. */
  | {
      readonly outcome: 'new'
      readonly hold: Hold
      readonly row: Omit<JobRow, 'row_id'>
      /** Its facts have the idempotency key of the request. */
      readonly event: JobEvent
    }

/** Decides whether a job is new. `node` is the name of the node that records it. */
export function decideCreation(
  job: NewJob,
  { sameId, sameKey }: CreationReads,
  node: string,
): CreationDecision {
  const { idempotency } = job
  if (sameId !== undefined) return { outcome: 'repeated', job: jobFrom(sameId) }
  if (sameKey !== undefined)
    return sameKey.fingerprint === idempotency?.fingerprint
      ? { outcome: 'repeated', job: jobFrom(sameKey.row) }
      : { outcome: 'key_reused' }
  return {
    outcome: 'new',
    hold: holdOf(job),
    row: newJobRow(job, node),
    event: { state: 'queued', detail: null, atMs: job.createdAtMs },
  }
}
