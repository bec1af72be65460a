import type { Database } from 'bun:sqlite'
import type { Id } from '../../../domain/ids.ts'
import { canHold } from '../../../domain/ledger/hold.ts'
import type { Changed, Created, Jobs, NewJob } from '../../../gateway/ports/jobs.ts'
import {
  decideCreation,
  decideJob,
  holdOf,
  type JobCommand,
  type JobWrites,
} from '../../books/jobs/decide-job.ts'
import { jobFrom, type JobRow } from '../../books/jobs/job-rows.ts'
import type { StepRunner } from '../engine.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { Tables } from '../hashed-table.ts'
import type { HoldOwner } from '../hold-owner.ts'
import type { LedgerSteps } from '../ledger.ts'
import type { ScopedDemand } from '../limits/account-limits.ts'
import { JobLists } from './job-lists.ts'
import { JobTable } from './job-table.ts'

type JobsParts = {
  readonly database: Database
  /** The name of the node. */
  readonly node: string
  readonly groupCommit: GroupCommit
  readonly stepRunner: StepRunner
  readonly steps: LedgerSteps
  readonly tables: Tables
  readonly owner: HoldOwner
}

/** `Jobs` of one node on SQLite: every step is one transaction, shared with the other steps of its commit. */
export function openJobs(parts: JobsParts): Jobs {
  const { database, node, groupCommit } = parts
  const table = new JobTable(parts)
  const steps = new JobSteps(table, parts)
  const lists = JobLists.open(database, node)
  const run = (id: Id, command: JobCommand) => groupCommit.run(() => steps.run(id, command))
  return {
    create: job => groupCommit.run(() => steps.create(job)),
    beginSubmit: (id, atMs, inputs) => run(id, { step: 'begin_submit', atMs, inputs }),
    accept: (id, to) => run(id, { step: 'accept', ...to }),
    loseSubmit: (id, to) => run(id, { step: 'lose_submit', ...to }),
    complete: (id, result) => run(id, { step: 'complete', ...result }),
    fail: (id, failure) => run(id, { step: 'fail', ...failure }),
    archive: (id, atMs) => run(id, { step: 'archive', atMs }),
    async notePoll(id, poll) {
      await run(id, { step: 'note_poll', ...poll })
    },
    async bookLateCompletion(id, late) {
      const { changed } = await run(id, { step: 'book_late_completion', ...late })
      return changed
    },
    async endWatch(id, end) {
      await run(id, { step: 'end_watch', ...end })
    },
    claim: (work, page, untilMs) => groupCommit.run(() => lists.claim(work, page, untilMs)),
    endClaim: (id, claim) => groupCommit.run(() => lists.endClaim(id, claim)),
    async findByKey(accountId, key, atMs) {
      const known = table.findByKey(accountId, key, atMs)
      return known && { fingerprint: known.fingerprint, job: jobFrom(known.row) }
    },
    async find(id) {
      const row = table.find(id)
      return row === undefined ? undefined : jobFrom(row)
    },
    async history(id) {
      return table.events(table.row(id))
    },
    async list(page) {
      return lists.list(page)
    },
    async openCounts() {
      return lists.openCounts()
    },
    async due(work, page) {
      return lists.due(work, page)
    },
  }
}

/** Carries out the decisions about jobs: each method reads rows, decides, and writes, inside one transaction. */
class JobSteps {
  readonly #table: JobTable
  readonly #parts: JobsParts

  constructor(table: JobTable, parts: JobsParts) {
    this.#table = table
    this.#parts = parts
  }

  create(job: NewJob): Created {
    const table = this.#table
    const { owner, node, steps } = this.#parts
    const { id, accountId, idempotency, createdAtMs: atMs } = job
    const sameId = table.find(id)
    const sameKey =
      sameId === undefined && idempotency !== undefined
        ? table.findByKey(accountId, idempotency.key, atMs)
        : undefined
    const decision = decideCreation(job, { sameId, sameKey }, node)
    if (decision.outcome !== 'new') return decision
    const books = steps.booksOfAccounts.of(accountId)
    const isCovered = canHold(books.free, job.held)
    const taken = steps.limits.take(books, demandOf(job), { nowMs: atMs, isCovered })
    if (taken.outcome === 'limited') {
      steps.limits.tellRefusal(books, taken.refusal, atMs)
      return taken
    }
    const outcome = this.#parts.stepRunner.run(steps.media.place({ ...decision.hold, job: id }, owner, atMs))
    if (outcome.outcome !== 'held') return outcome
    const row = table.insert(decision.row)
    table.note(row, decision.event, idempotency)
    if (idempotency !== undefined) table.insertKey(row, idempotency, atMs)
    return { outcome: 'created', job: jobFrom(row), rates: taken.rates }
  }

  run(id: Id, command: JobCommand): Changed {
    const row = this.#table.row(id)
    const isUpstreamIdTaken =
      command.step === 'accept' && this.#table.hasUpstreamId(row.provider, command.upstreamId)
    const { changed, writes } = decideJob({ row, isUpstreamIdTaken }, command)
    return { changed, job: jobFrom(writes === undefined ? row : this.#write(row, writes)) }
  }

  /** Returns the row after the step. */
  #write(before: JobRow, { charge, releasedAtMs, loss, columns, event }: JobWrites): JobRow {
    const { stepRunner, steps } = this.#parts
    const { media, journal, booksOfAccounts, limits, jobAlerts } = steps
    const job = jobFrom(before)
    const hold = holdOf(job)
    const endedAtMs = charge?.atMs ?? releasedAtMs
    if (endedAtMs !== undefined) {
      const books = booksOfAccounts.of(hold.accountId)
      limits.giveBack(books, demandOf(job), { tokens: 0, atMs: endedAtMs })
    }
    if (charge !== undefined) stepRunner.run(media.capture(hold, charge))
    if (releasedAtMs !== undefined) stepRunner.run(media.release(hold, releasedAtMs))
    const lossBy = loss && {
      loss_by: stepRunner.run(journal.write(booksOfAccounts.of(hold.accountId), loss)),
    }
    const after = { ...before, ...columns, ...lossBy }
    this.#table.update(before, after)
    if (event !== undefined) this.#table.note(after, event)
    if (endedAtMs !== undefined) this.#parts.stepRunner.run(jobAlerts.tell(jobFrom(after), endedAtMs))
    return after
  }
}

/** What a job takes of the limits of its scopes until it ends. It takes no tokens: only text is limited by them. */
function demandOf({ apiKeyId, model, held }: Pick<NewJob, 'apiKeyId' | 'model' | 'held'>): ScopedDemand {
  return { kind: 'media', tokens: 0, amount: held, apiKeyId, model }
}
