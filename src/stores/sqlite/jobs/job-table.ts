import type { Database, Statement } from 'bun:sqlite'
import { formatId, type Id } from '../../../domain/ids.ts'
import {
  mayFollow,
  type Failure,
  type JobInputs,
  type JobRequest,
  type JobState,
} from '../../../domain/jobs/job.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { JobEvent, JobResult, NewJob } from '../../../gateway/ports/jobs.ts'
import type { Tables } from '../tables.ts'
import { factsOf, sha256Of, type CreationFacts } from './job-facts.ts'
import { quoteText, type JobRow } from './job-rows.ts'

const BEGIN_SUBMIT = `UPDATE jobs SET submitted_at_ms = ?
  WHERE row_id = ? AND state = 'queued' AND submitted_at_ms IS NULL`
const NOTE_POLL = `UPDATE jobs
  SET next_poll_at_ms = max(next_poll_at_ms, ?), upstream_status = ifnull(?, upstream_status), problem = ?
  WHERE row_id = ? AND state <> 'completed' AND state <> 'failed'`

/**
 * The rows of jobs, and of what happened to them. Methods that write are for use inside a step. A state changes by
 * compare-and-set: the update names the state that the row had when it was read in the same step.
 */
export class JobTable {
  readonly #statements: ReturnType<typeof prepare>
  readonly #tables: Tables
  readonly #node: string

  /** `node` is the name of the node whose jobs are inserted. */
  constructor(parts: { readonly database: Database; readonly tables: Tables; readonly node: string }) {
    this.#statements = prepare(parts.database)
    this.#tables = parts.tables
    this.#node = parts.node
  }

  find({ key, tail }: Id): JobRow | undefined {
    return this.#statements.find.get(key, tail) ?? undefined
  }

  findByUpstream(provider: string, upstreamId: string): JobRow | undefined {
    return this.#statements.findByUpstream.get(provider, upstreamId) ?? undefined
  }

  rowAt(rowId: bigint): JobRow {
    const row = this.#statements.rowAt.get(rowId)
    if (row === null) throw new RangeError(`There is no job in row ${rowId}.`)
    return row
  }

  /** Throws a RangeError for an unknown id. */
  row(id: Id): JobRow {
    const row = this.find(id)
    if (row === undefined) throw new RangeError(`There is no job ${formatId('op', id)}.`)
    return row
  }

  insert(job: NewJob): bigint {
    const { id, requestId, createdAtMs: atMs } = job
    const rowId = this.#tables.jobs.insert({
      id_key: id.key,
      id_tail: id.tail,
      kind: job.kind,
      account_id: job.accountId,
      api_key_id: job.apiKeyId,
      route: job.route,
      model: job.model,
      provider: job.provider,
      upstream_model: job.upstreamModel,
      quote: quoteText(job.quote),
      held: job.held,
      node: this.#node,
      created_at_ms: atMs,
      job_deadline_at_ms: job.deadlineAtMs,
      request_key: requestId?.key ?? null,
      request_tail: requestId?.tail ?? null,
      state: 'queued',
      request: JSON.stringify(job.request),
      changed_at_ms: atMs,
      next_poll_at_ms: atMs,
      deadline_at_ms: job.deadlineAtMs,
    })
    if (rowId === null) throw new Error(`The job id ${formatId('op', id)} is in use.`)
    const { idempotency } = job
    const creation = idempotency && {
      keySha256: sha256Of(idempotency.key),
      fingerprint: idempotency.fingerprint,
    }
    this.note(rowId, { state: 'queued', detail: null, atMs }, creation)
    return rowId
  }

  /** `inputs` replace those of the request. */
  beginSubmit(row: JobRow, atMs: number, inputs?: JobInputs): boolean {
    if (this.#statements.beginSubmit.run(atMs, row.row_id).changes !== 1) return false
    if (inputs !== undefined) {
      const request = { ...(JSON.parse(row.request) as JobRequest), ...inputs }
      this.#statements.setRequest.run(JSON.stringify(request), row.row_id)
    }
    this.note(row.row_id, { state: 'queued', detail: 'The submit began.', atMs })
    return true
  }

  /** Writes nothing and returns false if `state` may not follow the row's state. */
  move(
    row: JobRow,
    to: { readonly state: JobState; readonly detail: string | null; readonly atMs: number },
  ): boolean {
    if (!mayFollow(row.state, to.state)) return false
    const { changes } = this.#statements.move.run(to.state, to.atMs, row.row_id, row.state)
    if (changes !== 1) throw new Error(`The job in row ${row.row_id} is not ${row.state} any more.`)
    this.note(row.row_id, to)
    return true
  }

  /** Before the move to `processing`, which needs the upstream id. */
  setUpstream(row: JobRow, to: { readonly upstreamId: string; readonly nextPollAtMs: number }): void {
    this.#statements.setUpstream.run(to.upstreamId, to.nextPollAtMs, row.row_id)
  }

  /** Of a failed job that is watched. */
  setWatchedUpstream(row: JobRow, upstreamId: string): void {
    this.#statements.setWatchedUpstream.run(upstreamId, row.row_id)
  }

  setLost(row: JobRow, problem: string, deadlineAtMs: number): void {
    this.#statements.setLost.run(problem, deadlineAtMs, row.row_id)
  }

  /** The caller notes it, after all other changes of the step. */
  complete(row: JobRow, { outputs, durationMs, cost, atMs }: JobResult): boolean {
    if (!mayFollow(row.state, 'completed')) return false
    this.#statements.complete.run(
      atMs,
      JSON.stringify(outputs),
      durationMs ?? null,
      cost,
      row.row_id,
      row.state,
    )
    return true
  }

  /** The caller notes it, after all other changes of the step. */
  fail(row: JobRow, { reason, code, message, retryAfterS, atMs, watchUntilMs }: RecordedFailure): boolean {
    if (!mayFollow(row.state, 'failed')) return false
    this.#statements.fail.run(
      atMs,
      reason,
      code ?? null,
      message,
      retryAfterS ?? null,
      watchUntilMs,
      row.row_id,
      row.state,
    )
    return true
  }

  notePoll(
    row: JobRow,
    poll: { readonly nextPollAtMs: number; readonly upstreamStatus?: string; readonly problem?: string },
  ): void {
    const { nextPollAtMs, upstreamStatus, problem } = poll
    this.#statements.notePoll.run(nextPollAtMs, upstreamStatus ?? null, problem ?? null, row.row_id)
  }

  archive(row: JobRow, atMs: number): boolean {
    return this.#statements.archive.run(atMs, row.row_id).changes === 1
  }

  /**
   * False if the job is not watched: it never was, its time is over, or its watch has ended. The caller notes it, after
   * all other changes of the step.
   */
  endWatch(row: JobRow, atMs: number): boolean {
    return this.#statements.endWatch.run(row.row_id, atMs).changes === 1
  }

  /** Of a failed job that is not watched. `by` is the operation that booked the loss; null for a loss of zero. */
  setLoss(
    row: JobRow,
    { loss, atMs, by }: { readonly loss: NanoUsd; readonly atMs: number; readonly by: bigint | null },
  ): void {
    this.#statements.setLoss.run(loss, atMs, by, row.row_id)
  }

  /** The cost of the job that the provider reported. Changes nothing if it reported none. */
  setProviderCost(row: JobRow, cost: NanoUsd | undefined): void {
    if (cost !== undefined) this.#statements.setProviderCost.run(cost, row.row_id)
  }

  /**
   * Adds an event, with the job's columns as they are now. `verify` compares them with the row, so that it is the last
   * change of its step.
   */
  note(rowId: bigint, { state, detail, atMs }: JobEvent, creation?: CreationFacts): void {
    const facts = factsOf(this.rowAt(rowId), creation)
    this.#tables.jobEvents.insert({ job: rowId, state, detail, at_ms: atMs, facts })
  }

  events(row: JobRow): readonly JobEvent[] {
    return this.#statements.events
      .all(row.row_id)
      .map(({ state, detail, at_ms }) => ({ state, detail, atMs: Number(at_ms) }))
  }
}

type RecordedFailure = Failure & { readonly atMs: number; readonly watchUntilMs: number | null }
type EventRow = { state: JobState; detail: string | null; at_ms: bigint }

function prepare(database: Database) {
  const find: Statement<JobRow, [bigint, bigint]> = database.prepare(
    'SELECT * FROM jobs WHERE id_key = ? AND id_tail = ?',
  )
  const findByUpstream: Statement<JobRow, [string, string]> = database.prepare(
    'SELECT * FROM jobs WHERE provider = ? AND upstream_id = ?',
  )
  const rowAt: Statement<JobRow, [bigint]> = database.prepare('SELECT * FROM jobs WHERE row_id = ?')
  const events: Statement<EventRow, [bigint]> = database.prepare(
    'SELECT state, detail, at_ms FROM job_events WHERE job = ? ORDER BY row_id',
  )
  return {
    find,
    findByUpstream,
    rowAt,
    events,
    beginSubmit: database.prepare(BEGIN_SUBMIT),
    setRequest: database.prepare('UPDATE jobs SET request = ? WHERE row_id = ?'),
    move: database.prepare('UPDATE jobs SET state = ?, changed_at_ms = ? WHERE row_id = ? AND state = ?'),
    setUpstream: database.prepare(
      // The time to live of an unknown submit was its deadline. A job that is found gets the deadline of its creation
      // again.
      'UPDATE jobs SET upstream_id = ?, next_poll_at_ms = ?, deadline_at_ms = job_deadline_at_ms, problem = NULL WHERE row_id = ?',
    ),
    setWatchedUpstream: database.prepare('UPDATE jobs SET upstream_id = ? WHERE row_id = ?'),
    setLost: database.prepare('UPDATE jobs SET problem = ?, deadline_at_ms = ? WHERE row_id = ?'),
    complete: database.prepare(
      `UPDATE jobs SET state = 'completed', changed_at_ms = ?, outputs = ?, duration_ms = ?, cost = ?, problem = NULL
        WHERE row_id = ? AND state = ?`,
    ),
    fail: database.prepare(
      `UPDATE jobs SET state = 'failed', changed_at_ms = ?, failure_reason = ?, failure_code = ?, failure_message = ?,
          failure_retry_after_s = ?, watch_until_ms = ?
        WHERE row_id = ? AND state = ?`,
    ),
    notePoll: database.prepare(NOTE_POLL),
    archive: database.prepare(
      "UPDATE jobs SET archived_at_ms = ? WHERE row_id = ? AND state = 'completed' AND archived_at_ms IS NULL",
    ),
    endWatch: database.prepare(
      'UPDATE jobs SET watch_until_ms = NULL WHERE row_id = ? AND watch_until_ms > ?',
    ),
    setProviderCost: database.prepare('UPDATE jobs SET provider_cost = ? WHERE row_id = ?'),
    setLoss: database.prepare('UPDATE jobs SET loss = ?, loss_at_ms = ?, loss_by = ? WHERE row_id = ?'),
  }
}
