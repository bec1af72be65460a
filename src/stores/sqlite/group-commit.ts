import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'

/** A longer batch would keep its first caller waiting for the work of too many others. */
const BATCH_MAX = 256
/** Far above what a node can have in flight; a store that cannot commit must not fill the memory. */
const WAITING_MAX = 65_536
/**
 * A commit costs as much as the steps of ten charges, so while a crowd is under way commits keep a distance, and more share each.
 * It ends early when all of the crowd wait. A smaller crowd would wait for too little.
 */
const CROWD_MIN = 16
const DISTANCE_MS = 10

/**
 * Runs the writes of many callers in one durable transaction: a commit waits for the disk, whatever its size. What waits at the
 * end of a turn of the event loop is committed then, unless many more are about to come.
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
  /** As `run`, for one who makes no promise, or more than that, of how it ends. */
  add(step: Step): void
  /** Reaches into every later transaction. */
  join(participant: Participant): void
  /** Commits what waits, now, and refuses what comes later with `unavailable`. */
  close(): void
}

/** `run` is a step as `GroupCommit.run` has it, which keeps what it came to. Then one of the others is called, once. */
export type Step = {
  run(database: Database): void
  committed(): void
  failed(error: unknown): void
}

/** Keeps something in memory beside the tables, and must follow what becomes of each transaction. Only `beforeCommit` may throw. */
export type Participant = {
  /** How many callers have a step waiting, or will have one before long. */
  readonly expected?: () => number
  /** The last chance to write. */
  readonly beforeCommit?: () => void
  readonly afterCommit?: () => void
  /** All since the BEGIN is undone. */
  readonly afterRollback?: () => void
}

export function createGroupCommit(
  database: Database,
  afterDistance: (then: () => void) => void = then => void setTimeout(then, DISTANCE_MS),
): GroupCommit {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const end = database.prepare('COMMIT')
  const participants: Participant[] = []
  let waiting: Step[] = []
  let isClosed = false
  /** A commit comes with the end of this turn. */
  let isDue = false
  let isKeepingDistance = false

  function plan(): void {
    if (isDue || waiting.length === 0) return
    if (isKeepingDistance && waiting.length < BATCH_MAX && waiting.length < expected()) return
    isDue = true
    setImmediate(commitDue)
  }

  function commitDue(): void {
    isDue = false
    if (!isKeepingDistance && expected() >= CROWD_MIN) {
      isKeepingDistance = true
      afterDistance(endDistance)
    }
    commitWaiting()
    plan()
  }

  function endDistance(): void {
    isKeepingDistance = false
    if (!isDue && waiting.length > 0) commitDue()
  }

  function expected(): number {
    let count = 0
    for (const participant of participants) count += participant.expected?.() ?? 0
    return count
  }

  function commitWaiting(): void {
    const batch = waiting.length > BATCH_MAX ? waiting.splice(0, BATCH_MAX) : waiting
    if (batch === waiting) waiting = []
    commit(batch)
  }

  /** A step that throws costs a rollback and one more transaction, so that no other pays for a savepoint. */
  function commit(batch: readonly Step[]): void {
    if (batch.length === 0) return
    let thrower: Thrower | undefined
    try {
      thrower = attempt(batch)
    } catch (error) {
      for (const step of batch) step.failed(error)
      return
    }
    if (thrower === undefined) {
      for (const step of batch) step.committed()
      return
    }
    commit(batch.slice(0, thrower.index))
    batch[thrower.index]?.failed(thrower.error)
    commit(batch.slice(thrower.index + 1))
  }

  /** Commits all, or rolls all back and returns the step that threw. Throws where the transaction itself failed. */
  function attempt(batch: readonly Step[]): Thrower | undefined {
    try {
      begin.run()
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

  function runAll(batch: readonly Step[]): Thrower | undefined {
    let index = 0
    try {
      for (; index < batch.length; index += 1) batch[index]?.run(database)
      return undefined
    } catch (error) {
      return { index, error }
    }
  }

  function rollBack(): void {
    try {
      // SQLite has rolled back by itself after some failures, a full disk among them.
      if (database.inTransaction) database.run('ROLLBACK')
    } finally {
      for (const participant of participants) participant.afterRollback?.()
    }
  }

  function add(step: Step): void {
    if (isClosed) return step.failed(unavailable('The store is closing.'))
    if (waiting.length >= WAITING_MAX)
      return step.failed(unavailable('The store has too much to write; try again shortly.'))
    waiting.push(step)
    plan()
  }

  return {
    run: work => new Promise((resolve, reject) => add(promised(work, resolve, reject))),
    add,
    join(participant) {
      participants.push(participant)
    },
    close() {
      isClosed = true
      while (waiting.length > 0) commitWaiting()
    },
  }
}

type Thrower = { readonly index: number; readonly error: unknown }

/** A step that settles a promise with what `work` returned. */
function promised<T>(
  work: (database: Database) => T,
  resolve: (outcome: T) => void,
  reject: (error: unknown) => void,
): Step {
  let outcome: T
  return {
    run: database => void (outcome = work(database)),
    committed: () => resolve(outcome),
    failed: reject,
  }
}

function unavailable(message: string): GatewayError {
  return new GatewayError('unavailable', message)
}
