import type { SqlValue } from './rows/canonical.ts'
import type { HashedTableDefinition, NewRow } from './rows/hashed-table.ts'
import type { StepBooks } from './rows/operation-rows.ts'

/**
 * The work of one caller in a transaction. It is written once for both stores: it yields what it asks of its store, and
 * goes on with the answer, which SQLite gives at once and PostgreSQL later. An error that it throws undoes it.
 *
 * Queries have a question mark for each value, and are text that both databases read alike: `coalesce` instead of
 * `ifnull`, `CASE` instead of `max` with two arguments, a cast around `sum`, `RETURNING` to know whether a row was
 * changed. Integers come back as bigint, and conditions as 0n or 1n.
 */
export type Step<T> = Generator<Ask, T, unknown>

/** A request of a step to its store. */
export type Ask =
  | { readonly kind: 'query'; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: 'insert'; readonly table: HashedTableDefinition; readonly row: object }
  | { readonly kind: 'books'; readonly accountId: number }
  | { readonly kind: 'lock'; readonly lock: StepLock }
  | { readonly kind: 'after'; readonly call: () => void }

/** The rows of a query. */
export function* all<Row>(sql: string, ...values: readonly SqlValue[]): Step<readonly Row[]> {
  return (yield { kind: 'query', sql, values }) as readonly Row[]
}

/** The first row of a query, if it has one. */
export function* first<Row>(sql: string, ...values: readonly SqlValue[]): Step<Row | undefined> {
  return (yield* all<Row>(sql, ...values))[0]
}

/** Writes to a table that no hash covers. */
export function* run(sql: string, ...values: readonly SqlValue[]): Step<void> {
  yield { kind: 'query', sql, values }
}

/**
 * Appends a row to a table that commits cover. Returns its id. If a unique column has this value already, it writes
 * nothing and returns null.
 */
export function* insert<Definition extends HashedTableDefinition>(
  table: Definition,
  row: NewRow<Definition>,
): Step<bigint | null> {
  return (yield { kind: 'insert', table, row }) as bigint | null
}

/**
 * The books of an account, which no other step changes until the transaction ends. A step reads the rows that it
 * decides on after this. Throws a RangeError for an account that does not exist, and `books_inconsistent` for one
 * without its row of balances.
 */
export function* booksOf(accountId: number): Step<StepBooks> {
  return (yield { kind: 'books', accountId }) as StepBooks
}

/**
 * From here on, until the transaction ends, no other step with this lock runs on any node. Steps take locks in the
 * order `access`, `catalog`, the books of accounts, `events`, so that there is no deadlock.
 */
export function* takeLock(lock: Exclude<StepLock, 'books'>): Step<void> {
  yield { kind: 'lock', lock }
}

/** Has something done as soon as the transaction is committed, and before its caller hears of it. */
export function* afterCommit(call: () => void): Step<void> {
  yield { kind: 'after', call }
}

/** A part of a step without a query. */
// oxlint-disable-next-line require-yield
export function* atOnce<T>(work: () => T): Step<T> {
  return work()
}

/**
 * The lock that a step begins with. Steps with the same lock run one after the other, on all nodes. Steps that move
 * money begin with `books`, which locks nothing yet: they lock the books of each account that they read. Steps that
 * change many jobs or attempts, of any account, begin with `sweeps`.
 */
export type StepLock = 'access' | 'books' | 'catalog' | 'events' | 'sweeps'

export type WriteOptions = {
  /** Whether the step waits until a lost database answers again, instead of being refused. */
  readonly canWait: boolean
}

/** For steps that record the end of work. It has already happened, so a refusal would lose what is known of it. */
export const END_OF_WORK: WriteOptions = { canWait: true }

/** Runs the steps of one node: the store of SQLite or of PostgreSQL. */
export interface StepRunner {
  /**
   * Runs a step in a transaction. Resolves with its result once that is on disk. Rejects with what the step throws,
   * which then wrote nothing, and with `unavailable` if it cannot be written. `step` is called again if the transaction
   * is repeated, so it keeps nothing outside of the store. `END_OF_WORK` lets it wait for a lost database.
   */
  write<T>(lock: StepLock, step: () => Step<T>, options?: WriteOptions): Promise<T>

  /** Runs a step that only reads. All its queries see the same state. */
  read<T>(step: () => Step<T>): Promise<T>
}
