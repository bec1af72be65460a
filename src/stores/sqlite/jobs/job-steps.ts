import { mayFollow, type Job, type JobInputs } from '../../../domain/jobs/job.ts'
import { releaseWatchMs } from '../../../domain/jobs/watch.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { Charge, Hold } from '../../../gateway/ports/ledger.ts'
import {
  UpstreamIdTakenError,
  type Changed,
  type Created,
  type Failed,
  type JobResult,
  type Jobs,
  type LostSubmit,
  type NewJob,
} from '../../../gateway/ports/jobs.ts'
import type { BooksOfAccounts } from '../account-books.ts'
import type { HoldOwner } from '../hold-owner.ts'
import type { Journal } from '../journal.ts'
import type { MediaHolds } from '../media-holds.ts'
import type { JobKeys } from './job-keys.ts'
import { jobFrom, type JobRow } from './job-rows.ts'
import type { JobTable } from './job-table.ts'

type Parts = {
  readonly table: JobTable
  readonly keys: JobKeys
  readonly holds: MediaHolds
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
}

/** The steps of `Jobs`: each moves a job and its money inside one transaction. */
export class JobSteps {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  create(job: NewJob, owner: HoldOwner): Created {
    const { table, keys, holds } = this.#parts
    const { idempotency, accountId, createdAtMs: atMs } = job
    const existing = table.find(job.id)
    if (existing !== undefined) return { outcome: 'repeated', job: jobFrom(existing) }
    const repeated = this.#repeated(job)
    if (repeated !== undefined) return repeated
    const outcome = holds.place({ ...holdOf(job), job: job.id }, owner, atMs)
    if (outcome.outcome === 'refused') return outcome
    const rowId = table.insert(job)
    if (idempotency !== undefined) keys.insert(accountId, idempotency, { job: rowId, atMs })
    return { outcome: 'created', job: jobFrom(table.row(job.id)) }
  }

  beginSubmit(id: Id, atMs: number, inputs?: JobInputs): Changed {
    const { table } = this.#parts
    return this.#change(id, row => table.beginSubmit(row, atMs, inputs))
  }

  accept(
    id: Id,
    to: { readonly upstreamId: string; readonly atMs: number; readonly nextPollAtMs: number },
  ): Changed {
    const { table } = this.#parts
    return this.#change(id, row => {
      const isReleased = row.state === 'failed' && row.watch_until_ms !== null && row.upstream_id === null
      if (!isReleased && !mayFollow(row.state, 'processing')) return false
      if (table.findByUpstream(row.provider, to.upstreamId) !== undefined)
        throw new UpstreamIdTakenError(`The upstream id of ${formatId('op', id)} belongs to another job.`)
      if (isReleased) {
        table.setWatchedUpstream(row, to.upstreamId)
        table.note(row.row_id, { state: row.state, detail: ACCEPTED_LATE, atMs: to.atMs })
        return false
      }
      table.setUpstream(row, to)
      return table.move(row, { state: 'processing', detail: null, atMs: to.atMs })
    })
  }

  loseSubmit(id: Id, { problem, atMs, deadlineAtMs, submittedAtMs }: LostSubmit): Changed {
    const { table } = this.#parts
    return this.#change(id, row => {
      if (!mayFollow(row.state, 'unknown_submit')) return false
      if (submittedAtMs !== undefined && submittedAtMs !== jobFrom(row).submittedAtMs) return false
      table.setLost(row, problem, deadlineAtMs)
      return table.move(row, { state: 'unknown_submit', detail: problem, atMs })
    })
  }

  /** The hold is captured with the charge, and only for the caller whose step completes the job. */
  complete(id: Id, result: JobResult): Changed {
    const { table, holds } = this.#parts
    return this.#change(id, row => {
      if (!table.complete(row, result)) return false
      table.setProviderCost(row, result.providerCost)
      const job = jobFrom(row)
      holds.capture(holdOf(job), chargeOf(job, result))
      table.note(row.row_id, { state: 'completed', detail: null, atMs: result.atMs })
      return true
    })
  }

  fail(id: Id, { loss, deadlineAtMs, timedOut = false, providerCost, ...failure }: Failed): Changed {
    const { table, holds } = this.#parts
    return this.#change(id, row => {
      if (deadlineAtMs !== undefined && deadlineAtMs !== jobFrom(row).deadlineAtMs) return false
      const watchMs = releaseWatchMs(failure.reason, { isSubmitted: row.submitted_at_ms !== null, timedOut })
      const watchUntilMs = watchMs === null ? null : failure.atMs + watchMs
      if (!table.fail(row, { ...failure, watchUntilMs })) return false
      table.setProviderCost(row, providerCost)
      holds.release(holdOf(jobFrom(row)), failure.atMs)
      if (loss !== undefined) this.#bookLoss(row, { loss, atMs: failure.atMs })
      table.note(row.row_id, { state: 'failed', detail: failure.reason, atMs: failure.atMs })
      return true
    })
  }

  bookLateCompletion(
    id: Id,
    { cost, providerCost, atMs }: Parameters<Jobs['bookLateCompletion']>[1],
  ): boolean {
    const { table } = this.#parts
    const row = table.row(id)
    if (!table.endWatch(row, atMs)) return false
    table.setProviderCost(row, providerCost)
    this.#bookLoss(row, { loss: cost, atMs })
    table.note(row.row_id, { state: row.state, detail: COMPLETED_LATE, atMs })
    return true
  }

  endWatch(id: Id, { detail, providerCost, atMs }: Parameters<Jobs['endWatch']>[1]): void {
    const { table } = this.#parts
    const row = table.row(id)
    if (!table.endWatch(row, atMs)) return
    table.setProviderCost(row, providerCost)
    table.note(row.row_id, { state: row.state, detail, atMs })
  }

  archive(id: Id, atMs: number): Changed {
    const { table } = this.#parts
    return this.#change(id, row => {
      if (!table.archive(row, atMs)) return false
      table.note(row.row_id, { state: 'completed', detail: 'The result was archived.', atMs })
      return true
    })
  }

  #bookLoss(row: JobRow, { loss, atMs }: { readonly loss: NanoUsd; readonly atMs: number }): void {
    const { table, booksOfAccounts, journal } = this.#parts
    const movements = [{ from: 'losses', to: 'revenue.media', amount: loss }] as const
    const subject = { key: row.id_key, tail: row.id_tail }
    const books = booksOfAccounts.of(Number(row.account_id))
    const by = journal.write(books, { kind: 'loss', subject, movements, atMs })
    table.setLoss(row, { loss, atMs, by })
  }

  #repeated({ idempotency, accountId, createdAtMs }: NewJob): Created | undefined {
    if (idempotency === undefined) return undefined
    const { table, keys } = this.#parts
    const known = keys.find(accountId, idempotency.key, createdAtMs)
    if (known === undefined) return undefined
    if (known.fingerprint !== idempotency.fingerprint) return { outcome: 'key_reused' }
    return { outcome: 'repeated', job: jobFrom(table.rowAt(known.job)) }
  }

  /** Applies a change to the current row, and returns the job after it. */
  #change(id: Id, change: (row: JobRow) => boolean): Changed {
    const { table } = this.#parts
    const changed = change(table.row(id))
    return { changed, job: jobFrom(table.row(id)) }
  }
}

const ACCEPTED_LATE = 'The provider accepted the job after its reserve was released.'
const COMPLETED_LATE =
  'The provider finished the job after its reserve was released. Its price was booked as a loss.'

/** A job's hold has the job's id. */
function holdOf({ id, accountId, held }: Pick<Job, 'id' | 'accountId' | 'held'>): Hold {
  return { id, accountId, kind: 'media', amount: held }
}

function chargeOf({ quote, route, apiKeyId, model, provider }: Job, result: JobResult): Charge {
  const { cost, count = 0, tokens, chargedMs = 0, providerCost = null, atMs } = result
  const common = { cost, providerCost, route, apiKeyId, model, provider, atMs }
  return quote.kind === 'images'
    ? { kind: 'images', ...common, images: count, ...(tokens && { tokens }), tariff: quote.tariff }
    : { kind: 'video', ...common, durationMs: chargedMs, tariff: quote.tariff }
}
