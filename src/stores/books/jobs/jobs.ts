import { GatewayError } from '../../../domain/errors.ts'
import type { Id } from '../../../domain/ids.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { canHold } from '../../../domain/ledger/hold.ts'
import type { Demand } from '../../../domain/limits/scope-usage.ts'
import type { Changed, Created, JobEvent, Jobs, NewJob } from '../../../gateway/ports/media/jobs.ts'
import type { ReadOutcome } from '../../../gateway/ports/ledger/limits.ts'
import type { JobAlerts } from '../events/job-alerts.ts'
import type { Owner } from '../ledger/media-holds.ts'
import type { MoneySteps } from '../ledger/money-steps.ts'
import { storableText } from '../rows/canonical.ts'
import type { StepBooks } from '../rows/operation-rows.ts'
import { booksOf, END_OF_WORK, type StepRunner, type Step, type WriteOptions } from '../steps.ts'
import { decideCreation, decideJob, holdOf, type JobCommand, type JobWrites } from './decide-job.ts'
import type { HashText } from './job-facts.ts'
import { claimJobs, dueJobs, endClaim, listJobs, openCounts, type Condition } from './job-lists.ts'
import { jobFrom, type JobRow } from './job-rows.ts'
import {
  eventsOf,
  findJob,
  hasUpstreamId,
  insertJob,
  jobOfKey,
  jobWithId,
  noteEvent,
  removeOldKeys,
  REMOVED_KEYS_MAX,
  updateJob,
  writeKey,
} from './job-table.ts'

/** How often a node that makes jobs with idempotency keys removes those that are too old. */
const REMOVE_KEYS_EVERY_MS = 60_000

/** The effects of a job besides its rows and its money. Stores have them in different ways. */
export type JobEffects = {
  /**
   * Takes the demand of a new job from the limits of its scopes until it ends, or tells which one refuses it. Takes
   * nothing if the balance does not cover the job.
   */
  takeLimits(
    books: StepBooks,
    demand: JobDemand,
    at: { readonly nowMs: number; readonly isCovered: boolean },
  ): Step<ReadOutcome>
  giveBackLimits(books: StepBooks, demand: JobDemand, atMs: number): Step<void>
  /** The process that submits the jobs which this node records. No other one does: a submission is never repeated. */
  submitter(): string
  /** The rows of `jobs` whose submitters have ended. */
  left(): Condition
}

/** Whose limits a job takes a part of, and how much. */
export type JobDemand = Demand & Pick<Job, 'apiKeyId' | 'model'>

type JobsParts = {
  readonly stepRunner: StepRunner
  readonly money: Pick<MoneySteps, 'journal' | 'media'>
  readonly owner: Owner
  readonly jobAlerts: Pick<JobAlerts, 'tell'>
  readonly jobEffects: JobEffects
  readonly hashText: HashText
}

/** The jobs port of one node: every step is one transaction. */
export function createJobs(parts: JobsParts): Jobs {
  const { stepRunner, jobEffects } = parts
  const run = (id: Id, command: Exclude<JobCommand, { step: 'note_poll' }>, options?: WriteOptions) =>
    stepRunner.write('books', () => changeJob(id, storable(command), parts), options)
  /** A provider cannot be asked again in every case, so its answer must be recorded. */
  const told = (id: Id, command: Parameters<typeof run>[1]) => run(id, command, END_OF_WORK)
  /** It may have been recorded, but its caller was told that it was not, so nothing submits it. */
  const abandon = ({ id, createdAtMs }: NewJob) => {
    const problem = 'The database did not answer when the job was made, so nothing was sent.'
    const times = { atMs: createdAtMs, deadlineAtMs: createdAtMs, submittedAtMs: null }
    return told(id, { step: 'lose_submit', problem, ...times }).catch(() => undefined)
  }
  const tidyKeys = keyRemoval(stepRunner)
  return {
    async create(job) {
      const created = await stepRunner
        .write('books', () => createJob(job, parts))
        .catch((error: unknown) => {
          if (error instanceof GatewayError && error.code === 'unavailable') void abandon(job)
          throw error
        })
      if (created.outcome === 'created' && job.idempotency !== undefined) void tidyKeys(job.createdAtMs)
      return created
    },
    // A job whose submission is refused here would stay queued, with its money held, until it counts as stale.
    beginSubmit: (id, atMs, inputs) => told(id, { step: 'begin_submit', atMs, inputs }),
    accept: (id, to) => told(id, { step: 'accept', ...to }),
    loseSubmit: (id, to) => told(id, { step: 'lose_submit', ...to }),
    complete: (id, result) => told(id, { step: 'complete', ...result }),
    fail: (id, failure) => told(id, { step: 'fail', ...failure }),
    archive: (id, atMs) => run(id, { step: 'archive', atMs }),
    notePoll: (id, poll) =>
      stepRunner.write('books', () => notePoll(id, storable({ step: 'note_poll', ...poll }))),
    async bookLateCompletion(id, late) {
      const { changed } = await told(id, { step: 'book_late_completion', ...late })
      return changed
    },
    async endWatch(id, end) {
      await told(id, { step: 'end_watch', ...end })
    },
    claim: (work, page, untilMs) => stepRunner.write('sweeps', () => claimJobs(work, page, untilMs)),
    endClaim: (id, claim) => stepRunner.write('books', () => endClaim(id, claim)),
    findByKey: (accountId, key, atMs) => stepRunner.read(() => findByKey(accountId, key, atMs)),
    find: id => stepRunner.read(() => find(id)),
    history: id => stepRunner.read(() => historyOf(id)),
    list: page => stepRunner.read(() => listJobs(page)),
    openCounts: () => stepRunner.read(openCounts),
    due: (work, page) => stepRunner.read(() => dueJobs(work, page, jobEffects)),
  }
}

/** Removes old keys now and then, in a transaction of its own, because it locks the keys of other accounts. */
function keyRemoval(stepRunner: StepRunner): (nowMs: number) => Promise<void> {
  let nextAtMs = 0
  return async nowMs => {
    if (nowMs < nextAtMs) return
    nextAtMs = nowMs + REMOVE_KEYS_EVERY_MS
    try {
      const removed = await stepRunner.write('sweeps', () => removeOldKeys(nowMs))
      if (removed === REMOVED_KEYS_MAX) nextAtMs = 0
    } catch {
      // The next time removes them.
    }
  }
}

function* find(id: Id): Step<Job | undefined> {
  const row = yield* findJob(id)
  return row && jobFrom(row)
}

function* findByKey(...[accountId, key, atMs]: Parameters<Jobs['findByKey']>) {
  const known = yield* jobOfKey(accountId, key, atMs)
  return known && { fingerprint: known.fingerprint, job: jobFrom(known.row) }
}

function* historyOf(id: Id): Step<readonly JobEvent[]> {
  return yield* eventsOf(yield* jobWithId(id))
}

/** A text of a provider can have any sign. */
function storable<Command extends JobCommand>(command: Command): Command {
  const entries = Object.entries(command).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? storableText(value) : value,
  ])
  return Object.fromEntries(entries) as Command
}

function* createJob(job: NewJob, parts: JobsParts): Step<Created> {
  const { money, jobEffects, hashText } = parts
  const { id, accountId, idempotency, createdAtMs: atMs } = job
  const books = yield* booksOf(accountId)
  const sameId = yield* findJob(id)
  const sameKey =
    sameId === undefined && idempotency !== undefined
      ? yield* jobOfKey(accountId, idempotency.key, atMs)
      : undefined
  const decision = decideCreation(job, { sameId, sameKey }, jobEffects.submitter())
  if (decision.outcome !== 'new') return decision
  const isCovered = canHold(books.free, job.held)
  const taken = yield* jobEffects.takeLimits(books, demandOf(job), { nowMs: atMs, isCovered })
  if (taken.outcome === 'limited') return taken
  const outcome = yield* money.media.place({ ...decision.hold, job: id }, parts.owner, atMs)
  if (outcome.outcome !== 'held') return outcome
  const row = yield* insertJob(decision.row)
  yield* noteEvent(row, decision.event, { hashText, ...(idempotency && { idempotency }) })
  if (idempotency !== undefined) yield* writeKey(row, idempotency, atMs)
  return { outcome: 'created', job: jobFrom(row), rates: taken.rates }
}

function* changeJob(id: Id, command: JobCommand, parts: JobsParts): Step<Changed> {
  const known = yield* jobWithId(id)
  const books = yield* booksOf(Number(known.account_id))
  // Another step may have changed the job before this one had the books.
  const row = yield* jobWithId(id)
  const isUpstreamIdTaken =
    command.step === 'accept' && (yield* hasUpstreamId(row.provider, command.upstreamId))
  const { changed, writes } = decideJob({ row, isUpstreamIdTaken }, command)
  const after = writes === undefined ? row : yield* writeJob({ books, row }, writes, parts)
  return { changed, job: jobFrom(after) }
}

/** Returns the row after the step. */
function* writeJob(
  { books, row: before }: { readonly books: StepBooks; readonly row: JobRow },
  { charge, releasedAtMs, loss, columns, event }: JobWrites,
  { money, jobEffects, jobAlerts, hashText }: JobsParts,
): Step<JobRow> {
  const job = jobFrom(before)
  const hold = holdOf(job)
  const endedAtMs = charge?.atMs ?? releasedAtMs
  if (endedAtMs !== undefined) yield* jobEffects.giveBackLimits(books, demandOf(job), endedAtMs)
  if (charge !== undefined) yield* money.media.capture(hold, charge)
  if (releasedAtMs !== undefined) yield* money.media.release(hold, releasedAtMs)
  const lossBy = loss && { loss_by: yield* money.journal.write(books, loss) }
  const after = yield* updateJob(before, { ...columns, ...lossBy }, ['state'])
  if (after === undefined) throw new Error(`The job in row ${before.row_id} is not ${before.state} any more.`)
  if (event !== undefined) yield* noteEvent(after, event, { hashText })
  if (endedAtMs !== undefined) yield* jobAlerts.tell(jobFrom(after), endedAtMs)
  return after
}

/** It takes no tokens: only text is limited by them. */
function demandOf({ apiKeyId, model, held }: Pick<NewJob, 'apiKeyId' | 'model' | 'held'>): JobDemand {
  return { kind: 'media', tokens: 0, amount: held, apiKeyId, model }
}

/** Without the books, which it does not need: jobs are polled often, and an account has many at once. */
function* notePoll(id: Id, command: JobCommand): Step<void> {
  for (;;) {
    const row = yield* jobWithId(id)
    const { writes } = decideJob({ row, isUpstreamIdTaken: false }, command)
    if (writes === undefined) return
    // Another step can end the job or its claim meanwhile.
    if ((yield* updateJob(row, writes.columns, ['state', 'next_poll_at_ms'])) !== undefined) return
  }
}
