import type { SQL } from 'bun'
import type { StepRunner } from '../../books/steps.ts'
import { readIn } from '../lanes/step-runner.ts'
import type { Reads } from '../database/reads.ts'
import { fromDatabase } from '../database/values.ts'

const ROWS_AT_ONCE = 512

/**
 * The whole database at one moment, while others write to it. It is read in pieces, so memory does not grow with it.
 */
export class Snapshot {
  readonly read: StepRunner['read']
  readonly #sql: SQL
  readonly #answered: () => void
  #cursors = 0

  private constructor(sql: SQL, answered: () => void) {
    this.#sql = sql
    this.#answered = answered
    this.read = step => readIn(sql, step, answered)
  }

  /** Reads in a transaction, so that all queries see the same state. */
  static take<T>(reads: Pick<Reads, 'begin'>, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return reads.begin('isolation level repeatable read', async (sql, answered = () => undefined) => {
      // Cursors are read to their ends, so a plan with fast first rows would be the wrong one. A check of large books
      // takes longer than the limits that a role may have. Not every version has each of them.
      await sql`SELECT set_config('cursor_tuple_fraction', '1', true)`
      await sql`SELECT set_config(name, '0', true) FROM pg_settings
          WHERE name IN ('statement_timeout', 'transaction_timeout')`
      return work(new Snapshot(sql, answered))
    })
  }

  /**
   * Runs statements that write what was read. If the database refuses one, as when another transaction has changed the
   * same row since this moment, it undoes them all and throws its error; the snapshot can still be read.
   */
  async write(statements: readonly string[]): Promise<void> {
    await this.#sql.unsafe('SAVEPOINT written')
    try {
      for (const statement of statements) {
        await this.#sql.unsafe(statement)
        this.#answered()
      }
    } catch (error) {
      await this.#sql.unsafe('ROLLBACK TO SAVEPOINT written')
      throw error
    }
    await this.#sql.unsafe('RELEASE SAVEPOINT written')
    this.#answered()
  }

  /** The rows of a query without values, in pieces. */
  async *rows<Row>(select: string, rowsAtOnce = ROWS_AT_ONCE): AsyncGenerator<readonly Row[]> {
    const cursor = await this.open(select, rowsAtOnce)
    while (!cursor.isDone) yield fromDatabase(await cursor.next()) as readonly Row[]
  }

  /** Begins to read a query without values. */
  async open(select: string, rowsAtOnce = ROWS_AT_ONCE): Promise<Cursor> {
    this.#cursors += 1
    const name = `verify_${this.#cursors}`
    await this.#sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`)
    this.#answered()
    return new Cursor({ sql: this.#sql, name, rowsAtOnce, answered: this.#answered })
  }
}

/** A query that is read in pieces. */
class Cursor {
  readonly #parts: CursorParts
  #isDone = false

  constructor(parts: CursorParts) {
    this.#parts = parts
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** The next rows. */
  async next(): Promise<readonly Record<string, unknown>[]> {
    return this.#ended((await this.#fetch()) as readonly Record<string, unknown>[])
  }

  /** The values of the next rows, in the order of their columns. */
  async nextValues(): Promise<readonly (readonly unknown[])[]> {
    return this.#ended((await this.#fetch().values()) as readonly (readonly unknown[])[])
  }

  #fetch() {
    const { sql, name, rowsAtOnce } = this.#parts
    return sql.unsafe(`FETCH ${rowsAtOnce} FROM ${name}`)
  }

  /** Frees what the database keeps for it, as soon as it is read. */
  async #ended<Rows extends { readonly length: number }>(rows: Rows): Promise<Rows> {
    const { sql, name, rowsAtOnce, answered } = this.#parts
    answered()
    if (rows.length < rowsAtOnce) {
      this.#isDone = true
      await sql.unsafe(`CLOSE ${name}`)
    }
    return rows
  }
}

type CursorParts = {
  readonly sql: SQL
  readonly name: string
  readonly rowsAtOnce: number
  /** Called after each answer. */
  readonly answered: () => void
}
