import { SQL } from 'bun'
import { GatewayError } from '../../../domain/errors.ts'
import { CommitRows } from '../../books/rows/commit-rows.ts'
import { lastMigration } from '../database/migrate.ts'
import { bunHashes, flushed, Lane, type LaneClaim, type LanePlace, type OwnCommit } from './lane.ts'
import { postBatch, type Answers, type Asked } from './post.ts'
import { runStep, type StepOutcome, type Work } from './step-writes.ts'
import { storedRows } from './stored-rows.ts'

/** A database that does not answer in this time counts as lost. New paid requests must be refused within 3 seconds. */
export const ANSWER_TIMEOUT_MS = 2500
/** The pauses between attempts to reach a lost database. */
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1000
/** The code of `enter_lane_v1`. */
const FENCED = 'TG001'

export type WriterSettings = {
  /** Opens a connection. */
  readonly connect: () => SQL
  /** The name of the node. */
  readonly label: string
  /** The version of the gateway. */
  readonly version: string
  /** Replaces the number of the last migration of this build, for tests. */
  readonly migration?: number
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
  /** Hears of each batch that stored a commit, before its callers get their answers. It must not throw. */
  readonly onCommit?: () => void
}

/**
 * What became of a batch. A refused one wrote nothing. A fenced one wrote nothing either, because another process took
 * the lane. An unanswered one may have been committed or not. After the last two, `recover` must be called.
 */
export type Written<T> =
  | { readonly outcome: 'committed'; readonly result: T }
  | { readonly outcome: 'refused' | 'fenced' | 'unanswered'; readonly cause: unknown }

/** A batch that is lost: its place, and what its step returned if it ran until its commit. */
type LostBatch = { readonly place: LanePlace; readonly ran: () => StepOutcome<unknown> | undefined }

/** Writes the batches of a node one after the other, over a connection of its own. */
export class LaneWriter {
  readonly #settings: WriterSettings
  readonly #rows = new CommitRows(bunHashes)
  #sql: SQL
  #lane: Lane
  #lost: LostBatch | undefined
  #isClosed = false

  private constructor(settings: WriterSettings, sql: SQL, lane: Lane) {
    this.#settings = settings
    this.#sql = sql
    this.#lane = lane
  }

  /** Takes a lane. */
  static async claim(settings: WriterSettings): Promise<LaneWriter> {
    const sql = settings.connect()
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
  post(asked: Asked): Promise<Written<Answers>> {
    const [lane, rows] = [this.#lane, this.#rows]
    const place = lane.next(asked.charges.length)
    rows.clear()
    return this.#write({ place, ran: () => undefined }, async () => {
      const at = { place, rows, nowMs: nowIn(this.#settings) }
      // Both are sent at once. The second waits for the disk after the locks of the first are released.
      const [posted, flush] = await Promise.allSettled([postBatch(this.#sql, at, asked), flushed(this.#sql)])
      if (posted.status === 'rejected') throw posted.reason
      if (flush.status === 'rejected')
        throw new NotOnDisk('The batch may not be on disk.', { cause: flush.reason })
      lane.advance(place, rows)
      this.#report(place)
      return posted.value
    })
  }

  /** Runs work in a transaction of its own. */
  run<T>(work: Work<T>): Promise<Written<T>> {
    const lane = this.#lane
    const place = lane.next(0)
    let outcome: StepOutcome<T> | undefined
    return this.#write({ place, ran: () => outcome }, async () => {
      const at = { lane, place, nowMs: nowIn(this.#settings) }
      const { result, own } = await runStep(this.#sql, at, work, ran => (outcome = ran))
      lane.advanceSealed(place, own)
      this.#report(place, own)
      return result
    })
  }

  /**
   * Finds out what became of a lost batch, as soon as the database answers, and takes another lane if this one was
   * taken. Resolves with the outcome of a lost step that was committed. The parts of any other lost batch are written
   * again: they do nothing the second time. Calls `onUnreachable` each time that the database does not answer. Throws
   * `books_inconsistent` if it lost batches that it had acknowledged.
   */
  async recover(onUnreachable: (cause: unknown) => void): Promise<StepOutcome<unknown> | undefined> {
    for (let pauseMs = RETRY_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX)) {
      try {
        this.#reconnect()
        const outcome = await this.#inTime(() => this.#rejoin())
        this.#lost = undefined
        return outcome
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

  /** Stores the last commit, ends the text holds of this node and gives the lane back. */
  async close(): Promise<void> {
    if (this.#lost === undefined) {
      if (this.isUnsealed) await this.post({ charges: [], ends: [], holds: [] })
      await this.#lane.giveBack(this.#sql, nowIn(this.#settings))
    }
    await this.#sql.close({ timeout: 0 })
  }

  async #write<T>(batch: LostBatch, work: () => Promise<T>): Promise<Written<T>> {
    try {
      return { outcome: 'committed', result: await this.#inTime(work) }
    } catch (cause) {
      const outcome = outcomeOf(cause)
      if (outcome !== 'refused') this.#lost = batch
      // It answers, so the next attempt would follow at once.
      if (cannotWriteNow(cause)) await Bun.sleep(RETRY_MS_MAX)
      return { outcome, cause }
    }
  }

  async #rejoin(): Promise<StepOutcome<unknown> | undefined> {
    const [sql, lane, lost] = [this.#sql, this.#lane, this.#lost]
    const fate = lost === undefined ? 'not committed' : await lane.fateOf(sql, lost.place)
    if (fate === 'fenced') this.#lane = await Lane.claim(sql, claimOf(this.#settings))
    if (lost === undefined || fate !== 'committed') return undefined
    const outcome = lost.ran()
    if (outcome !== undefined) lane.advanceSealed(lost.place, outcome.own)
    else lane.advance(lost.place, await storedRows(sql, lost.place))
    this.#report(lost.place, outcome?.own)
    return outcome
  }

  #report({ commit }: LanePlace, own?: OwnCommit): void {
    if (commit !== undefined || own !== undefined) this.#settings.onCommit?.()
  }

  /** Closes the connection of work that takes too long, which then fails. */
  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    const sql = this.#sql
    const timer = setTimeout(() => void sql.close({ timeout: 0 }), ANSWER_TIMEOUT_MS)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  /** The old connection may still work on the lost batch. */
  #reconnect(): void {
    this.#sql.close({ timeout: 0 }).catch(() => undefined)
    this.#sql = this.#settings.connect()
  }
}

/** A batch that was committed, but may not be on disk. */
class NotOnDisk extends Error {}

/** A step that throws is refused like one that the database refuses. */
function outcomeOf(error: unknown): 'refused' | 'fenced' | 'unanswered' {
  if (error instanceof NotOnDisk) return 'unanswered'
  if (!(error instanceof SQL.PostgresError)) return 'refused'
  const code = error.errno ?? ''
  if (code === FENCED) return 'fenced'
  // 25P03 and 25P04 end the session of a node that was frozen inside a transaction.
  const isAway = error.code !== 'ERR_POSTGRES_SERVER_ERROR' || /^(57P|25P0[34])/.test(code)
  return isAway || cannotWriteNow(error) ? 'unanswered' : 'refused'
}

/**
 * Whether the server could write it later: its disk is full or fails (classes 53 and 58), it became read-only, it
 * cancelled the statement or gave up a lock, or the partition of the month is missing.
 */
function cannotWriteNow(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false
  const isNoPartition = error.errno === '23514' && error.message.startsWith('no partition of relation')
  return isNoPartition || /^(53|58|25006|40001|57014|55P03)/.test(error.errno ?? '')
}

function claimOf(settings: WriterSettings): LaneClaim {
  const { label, version, migration = lastMigration() } = settings
  return { label, version, migration, nowMs: nowIn(settings) }
}

function nowIn({ nowMs }: WriterSettings): number | null {
  return nowMs?.() ?? null
}
