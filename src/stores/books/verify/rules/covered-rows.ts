import type { SqlValue } from '../../rows/canonical.ts'
import { ROW_ID_MIN } from '../../cursors.ts'
import { formOf, type HashedTableDefinition } from '../../rows/hashed-table.ts'

/** A row of a hashed table in the form that its hash covers. */
export type HashedRow = { readonly commitId: bigint; readonly values: readonly SqlValue[] }

/** The rows of a hashed table that were read and not checked yet, in the order of their ids. */
export class CoveredRows {
  readonly table: HashedTableDefinition
  #rows: (readonly SqlValue[])[] = []
  #next = 0
  /** Rows from this id on were not read. The whole range of ids, so that no row is overlooked. */
  #unreadFrom = ROW_ID_MIN

  constructor(table: HashedTableDefinition) {
    this.table = table
  }

  get unreadFrom(): bigint {
    return this.#unreadFrom
  }

  get count(): number {
    return this.#rows.length - this.#next
  }

  /** Adds the next rows, with the values of all their columns. */
  add(rows: readonly (readonly SqlValue[])[]): void {
    if (rows.length === 0) return
    this.#rows = [...this.#rows.slice(this.#next), ...rows.map(values => formOf(this.table, values))]
    this.#next = 0
    const last = rows.at(-1)?.[0]
    if (typeof last === 'bigint') this.#unreadFrom = last + 1n
  }

  /** The next row, or the one after it. */
  peek(offset: 0 | 1 = 0): HashedRow | undefined {
    const values = this.#rows[this.#next + offset]
    if (values === undefined) return undefined
    const commitId = values.at(-1)
    return { commitId: typeof commitId === 'bigint' ? commitId : ROW_ID_MIN, values }
  }

  take(): void {
    this.#next += 1
  }
}
