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
    return reads.begin(
      'isolation level repeatable read read only',
      async (sql, answered = () => undefined) => {
        // Cursors are read to their ends, so a plan with fast first rows would be the wrong one. A check of large books
        // takes longer than the limits that a role may have. Not every version has each of them.
        await sql`SELECT set_config('cursor_tuple_fraction', '1', true)`
        await sql`SELECT set_config(name, '0', true) FROM pg_settings
          WHERE name IN ('statement_timeout', 'transaction_timeout')`
        return work(new Snapshot(sql, answered))
      },
    )
  }

  /** The rows of a query without values, in pieces. */
  async *rows<Row>(select: string): AsyncGenerator<readonly Row[]> {
    const cursor = await this.open(select)
    while (!cursor.isDone) yield fromDatabase(await cursor.next()) as readonly Row[]
  }

  /** Begins to read a query without values. */
  async open(select: string): Promise<Cursor> {
    this.#cursors += 1
    const name = `verify_${this.#cursors}`
    await this.#sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`)
    this.#answered()
    return new Cursor(this.#sql, name, this.#answered)
  }
}

/** A query that is read in pieces. */
class Cursor {
  readonly #sql: SQL
  readonly #name: string
  readonly #answered: () => void
  #isDone = false

  constructor(sql: SQL, name: string, answered: () => void) {
    this.#sql = sql
    this.#name = name
    this.#answered = answered
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
    return this.#sql.unsafe(`FETCH ${ROWS_AT_ONCE} FROM ${this.#name}`)
  }

  /** Frees what the database keeps for it, as soon as it is read. */
  async #ended<Rows extends { readonly length: number }>(rows: Rows): Promise<Rows> {
    this.#answered()
    if (rows.length < ROWS_AT_ONCE) {
      this.#isDone = true
      await this.#sql.unsafe(`CLOSE ${this.#name}`)
    }
    return rows
  }
}
