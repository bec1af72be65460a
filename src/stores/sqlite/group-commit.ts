import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'

/** A longer batch would keep its first caller waiting for the work of too many others. */
const BATCH_MAX = 256
/** Far above what a node can have in flight; a store that cannot commit must not fill the memory. */
const WAITING_MAX = 65_536

/**
 * Runs the writes of many callers in one durable transaction, once per turn of the event loop: a commit waits for the
 * disk, whatever its size.
 */
export type GroupCommit = {
  /**
   * Resolves with what `step` returned once it is on disk. A step that throws leaves no trace, its caller gets what it
   * threw, and the others of its batch are committed all the same. A commit that fails (a full disk) rejects its whole batch.
   *
   * A step is synchronous. It may be run again after a rollback, so it keeps nothing outside the database but what a
   * participant takes back.
   */
  run<T>(step: (database: Database) => T): Promise<T>
  /** Reaches into every later transaction. */
  join(participant: Participant): void
  /** Commits what waits, now, and refuses what comes later with `unavailable`. */
  close(): void
}

/** Keeps something in memory beside the tables, and must follow what becomes of each transaction. Only the first may throw. */
export type Participant = {
  /** The last chance to write. */
  readonly beforeCommit?: () => void
  readonly afterCommit?: () => void
  /** All since the BEGIN is undone. */
  readonly afterRollback?: () => void
}

export function createGroupCommit(database: Database): GroupCommit {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const end = database.prepare('COMMIT')
  const participants: Participant[] = []
  let waiting: Waiting[] = []
  let isClosed = false

  function commitWaiting(): void {
    const batch = waiting.length > BATCH_MAX ? waiting.splice(0, BATCH_MAX) : waiting
    if (batch !== waiting) setImmediate(commitWaiting)
    else waiting = []
    commit(batch)
  }

  /** A step that throws costs a rollback and one more transaction, so that no other pays for a savepoint. */
  function commit(batch: readonly Waiting[]): void {
    if (batch.length === 0) return
    let thrower: Thrower | undefined
    try {
      thrower = attempt(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return
    }
    if (thrower === undefined) {
      for (const { resolve, outcome } of batch) resolve(outcome)
      return
    }
    commit(batch.slice(0, thrower.index))
    batch[thrower.index]?.reject(thrower.error)
    commit(batch.slice(thrower.index + 1))
  }

  /** Commits all, or rolls all back and returns the step that threw. Throws where the transaction itself failed. */
  function attempt(batch: readonly Waiting[]): Thrower | undefined {
    begin.run()
    try {
      const thrower = runAll(batch)
      if (thrower !== undefined) {
        rollBack()
        return thrower
      }
      for (const participant of participants) participant.beforeCommit?.()
      end.run()
    } catch (error) {
      rollBack()
      throw error
    }
    for (const participant of participants) participant.afterCommit?.()
    return undefined
  }

  function runAll(batch: readonly Waiting[]): Thrower | undefined {
    for (const [index, waiting] of batch.entries()) {
      try {
        waiting.outcome = waiting.step(database)
      } catch (error) {
        return { index, error }
      }
    }
    return undefined
  }

  function rollBack(): void {
    // SQLite has rolled back by itself after some failures, a full disk among them.
    if (database.inTransaction) database.run('ROLLBACK')
    for (const participant of participants) participant.afterRollback?.()
  }

  return {
    run<T>(step: (database: Database) => T): Promise<T> {
      if (isClosed) return refused('The store is closing.')
      if (waiting.length >= WAITING_MAX) return refused('The store has too much to write; try again shortly.')
      if (waiting.length === 0) setImmediate(commitWaiting)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      waiting.push({ step, resolve: resolve as Waiting['resolve'], reject, outcome: undefined })
      return promise
    },
    join(participant) {
      participants.push(participant)
    },
    close() {
      isClosed = true
      while (waiting.length > 0) commitWaiting()
    },
  }
}

function refused(message: string): Promise<never> {
  return Promise.reject(new GatewayError('unavailable', message))
}

type Waiting = {
  readonly step: (database: Database) => unknown
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
  outcome: unknown
}

type Thrower = { readonly index: number; readonly error: unknown }
