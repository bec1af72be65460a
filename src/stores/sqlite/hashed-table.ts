import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from './canonical.ts'
import type { CommitLog } from './commit-log.ts'
import { columnsOf, keyOf, type HashedTableDefinition } from './hashed-tables.ts'

/** Appends rows to a table that commit hashes cover. Row ids grow; one that is not used leaves a gap. */
export class HashedTable {
  readonly #definition: HashedTableDefinition
  readonly #commitLog: CommitLog
  readonly #insert: Statement
  #nextId: bigint

  constructor(
    parts: { readonly database: Database; readonly commitLog: CommitLog },
    definition: HashedTableDefinition,
  ) {
    const { name, changing = [] } = definition
    const columns = [...columnsOf(definition), ...changing]
    const places = columns.map(() => '?').join(', ')
    this.#definition = definition
    this.#commitLog = parts.commitLog
    this.#insert = parts.database.prepare(
      `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`,
    )
    const row = parts.database
      .query<{ last: bigint | null }, []>(`SELECT max(${keyOf(definition)}) AS last FROM ${name}`)
      .get()
    this.#nextId = (row?.last ?? 0n) + 1n
  }

  /** The id that the next row gets. */
  get nextId(): bigint {
    return this.#nextId
  }

  /**
   * Inside a step: appends a row, with its covered columns and those that change later. Returns its id; null, and writes nothing,
   * if a unique column has this value already.
   */
  insert(columns: readonly SqlValue[], changing: readonly SqlValue[] = []): bigint | null {
    const values = [this.#nextId, ...columns, this.#commitLog.currentId]
    const { changes } = this.#insert.run(...values, ...changing)
    if (changes === 0) return null
    this.#commitLog.add(this.#definition.tag, values)
    const id = this.#nextId
    this.#nextId += 1n
    return id
  }
}
