import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from '../../books/canonical.ts'
import { formOf, keyOf, selectCovered, type HashedTableDefinition } from '../../books/hashed-tables.ts'
import { ROW_ID_MIN } from '../../books/cursors.ts'

const ROWS_AT_ONCE = 256

/** A row of a hashed table in the form that its hash covers. */
export type HashedRow = { readonly commitId: bigint; readonly values: readonly SqlValue[] }

/** Reads the rows of a hashed table in the order of their ids, and shows the next one before it is taken. */
export class RowCursor {
  readonly table: HashedTableDefinition
  readonly #select: Statement<unknown, [bigint, number]>
  #rows: (readonly SqlValue[])[] = []
  #next = 0
  /** The whole range of ids, so that no row is overlooked. */
  #fromId = ROW_ID_MIN

  constructor(database: Database, table: HashedTableDefinition) {
    this.table = table
    this.#select = database.prepare(
      `${selectCovered(table)} WHERE ${keyOf(table)} >= ? ORDER BY ${keyOf(table)} LIMIT ?`,
    )
  }

  /** The next row; undefined if there is none at the moment. */
  peek(offset: 0 | 1 = 0): HashedRow | undefined {
    if (this.#next + offset >= this.#rows.length) this.#readMore()
    const values = this.#rows[this.#next + offset]
    if (values === undefined) return undefined
    const commitId = values.at(-1)
    return { commitId: typeof commitId === 'bigint' ? commitId : ROW_ID_MIN, values }
  }

  take(): void {
    this.#next += 1
  }

  #readMore(): void {
    const read = this.#select.values(this.#fromId, ROWS_AT_ONCE) as SqlValue[][]
    this.#rows = [...this.#rows.slice(this.#next), ...read.map(values => formOf(this.table, values))]
    this.#next = 0
    const last = read.at(-1)?.[0]
    if (typeof last === 'bigint') this.#fromId = last + 1n
  }
}
