import { SQL } from 'bun'
import { GatewayError } from '../../../domain/errors.ts'
import { CommitRows } from '../../books/rows/commit-rows.ts'
import { lastMigration } from '../database/migrate.ts'
import type { Connections } from '../database/database.ts'
import { meaningOf, type Meaning } from '../database/database-errors.ts'
import { bunHashes, flushed, Lane, type LaneClaim, type LanePlace, type OwnCommit } from './lane.ts'
import { PostedBatch, type Answers, type Asked } from './post.ts'
import { runStep, type StepOutcome, type Work } from './step-writes.ts'
import { storedRows } from './stored-rows.ts'

/**
 * A database that does not answer in this time counts as lost. New paid requests must be refused within 3 seconds, also
 * those that first wait for a step whose transaction the database ends after 500 ms, because the network was cut in it.
 */
export const ANSWER_TIMEOUT_MS = 2200
/** The pauses between attempts to reach a lost database. */
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1000

export type WriterSettings = {
  /** Opens a connection. */
  readonly connect: Connections['connect']
  /** The name of the node. */
  readonly label: string
  /** The version of the gateway. */
  readonly version: string
  /** Replaces the number of the last migration of this build, for tests. */
  readonly migration?: number
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
  /** Called after each batch that stored a commit, before its callers get their answers. */
  readonly onCommit?: () => void
  /** Called when the connection was closed. The next one may be to a server that lacks the last commits. */
  readonly onClosed?: () => void
}

/**
 * What became of a batch. These wrote nothing: a refused one; an overtaken one, because of other transactions, so that
 * it can be tried at once; one that the server can write later; a fenced one, because another process took the lane or
 * the batch does not follow the last one; and an idle one, because the node was too slow between two statements. An
 * unanswered one may have been committed or not. After the last three, `recover` must be called.
 */
export type Written<T> =
  | { readonly outcome: 'committed'; readonly result: T }
  | {
      readonly outcome: 'refused' | 'overtaken' | 'later' | 'fenced' | 'idle' | 'unanswered'
      readonly cause: unknown
    }

/**
 * What `recover` found out about the lost batch, with the outcome of a step that was committed. If the lane was taken,
 * it is not known whether the batch was committed before.
 */
export type Recovered =
  | { readonly fate: 'committed'; readonly step: StepOutcome<unknown> | undefined }
  | { readonly fate: 'not committed' | 'lane taken' }

/** A batch on its way: its place, and what its step returned if it ran until its commit. */
type SentBatch = { readonly place: LanePlace; readonly ran: () => StepOutcome<unknown> | undefined }

/** Writes the batches of a node one after the other, over a connection of its own. */
export class LaneWriter {
  readonly #settings: WriterSettings
  readonly #rows = new CommitRows(bunHashes)
  #sql: SQL
  #lane: Lane
  #lost: SentBatch | undefined
  #isClosed = false

  private constructor(settings: WriterSettings, sql: SQL, lane: Lane) {
    this.#settings = settings
    this.#sql = sql
    this.#lane = lane
  }

  /** Takes a lane. */
  static async claim(settings: WriterSettings): Promise<LaneWriter> {
    const sql = connect(settings)
    return new LaneWriter(settings, sql, await Lane.claim(sql, claimOf(settings)))
  }

  get lane(): bigint {
    return this.#lane.number
  }

  /** The name of this process in its lane. It changes if another process takes the lane. */
  get process(): string {
    return this.#lane.process
  }

  /** True until the commit of the last batch is stored, with the next one. */
  get isUnsealed(): boolean {
    return this.#lane.isUnsealed
  }

  /** Writes one batch. Resolves when it is on disk. */
  async post(asked: Asked): Promise<Written<Answers>> {
    const [lane, rows] = [this.#lane, this.#rows]
    const place = lane.next(asked.charges.length)
    let batch: PostedBatch
    try {
      batch = new PostedBatch({ place, nowMs: nowIn(this.#settings) }, asked)
    } catch (cause) {
      // Nothing was sent.
      return { outcome: 'refused', cause }
    }
    const sent = { place, ran: () => undefined }
    return this.#write(sent, outcomeOfBatch, async () => {
      // Both are sent at once. The second waits for the disk after the locks of the first are released.
      // The rows are hashed meanwhile.
      const posting = batch.send(this.#sql).then(result => {
        rows.clear()
        const answers = batch.read(result, rows)
        return { answers, commit: lane.commitAfter(place, rows) }
      })
      const [posted, flush] = await Promise.allSettled([posting, flushed(this.#sql)])
      if (posted.status === 'rejected') throw posted.reason
      if (flush.status === 'rejected')
        throw new Error('The batch may not be on disk.', { cause: flush.reason })
      const { answers, commit } = posted.value
      lane.advance(place, commit)
      this.#report(place)
      return answers
    })
  }

  /** Runs work in a transaction of its own. */
  run<T>(work: Work<T>): Promise<Written<T>> {
    const lane = this.#lane
    const place = lane.next(0)
    let outcome: StepOutcome<T> | undefined
    const sent = { place, ran: () => outcome }
    // Until the work has ended, its commit is not sent: what it throws undoes it.
    const outcomeOf = (cause: unknown) =>
      outcome === undefined ? outcomeOfWork(cause) : outcomeOfSent(cause)
    return this.#write(sent, outcomeOf, async answered => {
      const at = { lane, place, nowMs: nowIn(this.#settings) }
      const { result, own } = await runStep(this.#sql, at, work, { answered, ran: ran => (outcome = ran) })
      lane.advanceSealed(place, own)
      this.#report(place, own)
      return result
    })
  }

  /**
   * Finds out what became of a lost batch, as soon as the database answers, and takes another lane if this one was
   * taken. Parts of a batch can be written again whatever became of it: they do nothing the second time. Calls
   * `onUnreachable` each time that the database does not answer. Throws `books_inconsistent` if it lost batches that it
   * had acknowledged.
   */
  async recover(onUnreachable: (cause: unknown) => void): Promise<Recovered> {
    for (let pauseMs = RETRY_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX)) {
      try {
        this.#reconnect()
        const recovered = await this.#inTime(() => this.#rejoin())
        this.#lost = undefined
        return recovered
      } catch (error) {
        if (this.#isClosed || error instanceof GatewayError) throw error
        onUnreachable(error)
      }
      await Bun.sleep(pauseMs)
    }
  }

  /** Lets `recover` fail if the database does not answer. */
  giveUp(): void {
    this.#isClosed = true
  }

  /**
   * Stores the last commit, ends the text holds of this node and gives the lane back. If a batch is lost or the last
   * commit cannot be stored, it leaves the lane as it is: another node seals it when it is silent, and expires its
   * holds. It throws if the last commit could not be stored, and says whether that is known.
   */
  async close(): Promise<void> {
    try {
      if (this.#lost !== undefined) return
      if (this.isUnsealed) requireSealed(await this.post({ charges: [], ends: [], holds: [] }), this.lane)
      await this.#inTime(() => this.#lane.giveBack(this.#sql, nowIn(this.#settings)))
    } finally {
      await this.#sql.close({ timeout: 0 })
    }
  }

  async #write<T>(
    sent: SentBatch,
    outcomeOf: (cause: unknown) => Failure,
    work: (answered: () => void) => Promise<T>,
  ): Promise<Written<T>> {
    try {
      return { outcome: 'committed', result: await this.#inTime(work) }
    } catch (cause) {
      const outcome = outcomeOf(cause)
      if (outcome === 'fenced' || outcome === 'idle' || outcome === 'unanswered') this.#lost = sent
      return { outcome, cause }
    }
  }

  async #rejoin(): Promise<Recovered> {
    const [sql, lane, lost] = [this.#sql, this.#lane, this.#lost]
    if (lost === undefined) throw new Error('No batch is lost.')
    const found = await lane.fateOf(sql, lost.place)
    if (found.fate === 'lane taken') {
      this.#lane = await Lane.claim(sql, claimOf(this.#settings))
      return found
    }
    const { fate, stored } = found
    lane.resume(stored, await storedRows(sql, { sealedId: stored.sealed_id, lastId: stored.last_id }))
    if (fate === 'not committed') return { fate }
    const step = lost.ran()
    this.#report(lost.place, step?.own)
    return { fate, step }
  }

  #report({ commit }: LanePlace, own?: OwnCommit): void {
    const { onCommit } = this.#settings
    if (onCommit !== undefined && (commit !== undefined || own !== undefined)) tell(onCommit)
  }

  /** Closes the connection of work that waits too long for an answer, which then fails. */
  async #inTime<T>(work: (answered: () => void) => Promise<T>): Promise<T> {
    const sql = this.#sql
    const timer = setTimeout(() => void sql.close({ timeout: 0 }), ANSWER_TIMEOUT_MS)
    try {
      return await work(() => timer.refresh())
    } finally {
      clearTimeout(timer)
    }
  }

  /** The old connection may still work on the lost batch. */
  #reconnect(): void {
    this.#sql.close({ timeout: 0 }).catch(() => undefined)
    this.#sql = connect(this.#settings)
  }
}

type Failure = Exclude<Written<unknown>['outcome'], 'committed'>

function requireSealed(written: Written<unknown>, lane: bigint): void {
  // Whoever took the lane sealed it first.
  if (written.outcome === 'committed' || written.outcome === 'fenced') return
  const known =
    written.outcome === 'unanswered'
      ? `It is not known whether the last commit of lane ${lane} was stored`
      : `The last commit of lane ${lane} was not stored`
  throw new Error(`${known}. Another node stores it when the lane is silent.`, { cause: written.cause })
}

/** What an error means after work was sent. Only the server can say that it was not committed. */
const outcomes: Readonly<Record<Meaning, Failure>> = {
  fenced: 'fenced',
  ended: 'idle',
  lost: 'unanswered',
  overtaken: 'overtaken',
  taken: 'refused',
  unfit: 'refused',
  'not allowed': 'refused',
  broken: 'refused',
  later: 'later',
  refused: 'refused',
  unread: 'unanswered',
}

function outcomeOfSent(error: unknown): Failure {
  return outcomes[meaningOf(error)]
}

/**
 * The rules of a batch are the same for all of its parts: it is refused for one of them only if a row is unfit. A step
 * may use tables of its own, so one that is refused for them says nothing of other work.
 */
function outcomeOfBatch(error: unknown): Failure {
  const meaning = meaningOf(error)
  return meaning === 'refused' || meaning === 'broken' || meaning === 'not allowed'
    ? 'later'
    : outcomes[meaning]
}

/** What an error means before the commit of a step was sent. If the connection is lost, it must be made again. */
function outcomeOfWork(error: unknown): Failure {
  return error instanceof SQL.PostgresError ? outcomeOfSent(error) : 'refused'
}

/** Tells a listener of what is committed. What it throws must neither refuse a caller nor stop the batches. */
export function tell(listener: () => void): void {
  try {
    listener()
  } catch {
    // The work is done, and no caller waits for the listener.
  }
}

/** A connection can be closed before its listener is there, which then has nothing to do. */
function connect({ connect: open, onClosed }: WriterSettings): SQL {
  return open(onClosed && (() => tell(onClosed)))
}

function claimOf(settings: WriterSettings): LaneClaim {
  const { label, version, migration = lastMigration() } = settings
  return { label, version, migration, nowMs: nowIn(settings) }
}

function nowIn({ nowMs }: WriterSettings): number | null {
  return nowMs?.() ?? null
}
