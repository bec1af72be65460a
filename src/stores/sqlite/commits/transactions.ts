import type { Database, Statement } from 'bun:sqlite'
import { notRecorded } from '../../books/store-errors.ts'
import type { NodeChain } from './node-chain.ts'

/**
 * The write of one caller in a transaction. `run` is synchronous and may run again after a rollback, so it keeps
 * nothing outside the database except what a participant restores. After that, exactly one of `committed` and `failed`
 * is called, once.
 */
export type Write = {
  run(): void
  committed(): void
  failed(error: unknown): void
}

/**
 * Keeps state in memory that has to follow the outcome of each transaction, like the tables. Only `beforeCommit` may
 * throw.
 */
export type Participant = {
  /** The last chance to write. */
  readonly beforeCommit?: () => void
  readonly afterCommit?: () => void
  /** Everything since BEGIN is undone. */
  readonly afterRollback?: () => void
}

/** Commits the writes of many callers in one durable transaction. A transaction begins and ends within one call. */
export class Transactions {
  readonly #database: Database
  readonly #begin: Statement
  readonly #end: Statement
  readonly #participants: Participant[] = []
  #author: NodeChain | undefined

  constructor(database: Database) {
    this.#database = database
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#end = database.prepare('COMMIT')
  }

  /** The node that the running transaction belongs to; undefined if it belongs to none. */
  get author(): NodeChain | undefined {
    return this.#author
  }

  /** Adds a participant to all later transactions. */
  join(participant: Participant): void {
    this.#participants.push(participant)
  }

  /**
   * Commits the writes in order, for the node `author`. One that throws writes nothing and fails with its error; the
   * others are committed. If the commit itself fails (a full disk), all writes of the transaction fail with
   * `unavailable`.
   */
  commit(writes: readonly Write[], author?: NodeChain): void {
    if (writes.length === 0) return
    this.#author = author
    let thrown: Thrown | undefined
    try {
      thrown = this.#attempt(writes)
    } catch (cause) {
      const error = notRecorded(cause)
      for (const write of writes) write.failed(error)
      return
    }
    if (thrown === undefined) {
      for (const write of writes) write.committed()
      return
    }
    // A write seldom throws. One more transaction then is cheaper than a savepoint for every write.
    this.commit(writes.slice(0, thrown.index), author)
    const { error } = thrown
    writes[thrown.index]?.failed(isDiskFailure(error) ? notRecorded(error) : error)
    this.commit(writes.slice(thrown.index + 1), author)
  }

  /** Commits all writes, or rolls all back and returns the one that threw. Throws if the transaction itself failed. */
  #attempt(writes: readonly Write[]): Thrown | undefined {
    try {
      this.#begin.run()
      const thrown = runAll(writes)
      if (thrown !== undefined) {
        this.#rollBack()
        return thrown
      }
      for (const participant of this.#participants) participant.beforeCommit?.()
      this.#end.run()
    } catch (error) {
      this.#rollBack()
      throw error
    }
    for (const participant of this.#participants) participant.afterCommit?.()
    // Last, so that listeners read the new state, and one that throws leaves the participants complete.
    this.#author?.report()
    return undefined
  }

  #rollBack(): void {
    try {
      // After some failures, such as a full disk, SQLite has rolled back by itself.
      if (this.#database.inTransaction) this.#database.run('ROLLBACK')
    } finally {
      for (const participant of this.#participants) participant.afterRollback?.()
    }
  }
}

/** A full disk can fail a statement before the commit. */
function isDiskFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY'].some(prefix => code.startsWith(prefix))
}

type Thrown = { readonly index: number; readonly error: unknown }

function runAll(writes: readonly Write[]): Thrown | undefined {
  let index = 0
  try {
    for (const write of writes) {
      write.run()
      index += 1
    }
  } catch (error) {
    return { index, error }
  }
  return undefined
}
