import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from './canonical.ts'
import type { CommitLog } from './commit-log.ts'
import { allColumnsOf, columnsOf, keyOf, type HashedTableDefinition } from './hashed-tables.ts'

type Parts = { readonly database: Database; readonly commitLog: CommitLog }

/** Appends rows to a table that commit hashes cover. Row ids grow; one that is not used leaves a gap. */
export class HashedTable {
  readonly #definition: HashedTableDefinition
  readonly #commitLog: CommitLog
  readonly #insert: Statement
  /** Undefined if no column was added later. */
  readonly #insertAdded: Statement | undefined
  #nextId: bigint

  private constructor(parts: Parts, definition: HashedTableDefinition, lastId: bigint) {
    const { name, changing = [] } = definition
    const prepare = (columns: readonly string[]) => {
      const places = columns.map(() => '?').join(', ')
      return parts.database.prepare(
        `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`,
      )
    }
    this.#definition = definition
    this.#commitLog = parts.commitLog
    this.#insert = prepare([...columnsOf(definition), ...changing])
    this.#insertAdded = definition.added && prepare([...allColumnsOf(definition), ...changing])
    this.#nextId = lastId + 1n
  }

  /** Reads the last row id. */
  static open(parts: Parts, definition: HashedTableDefinition): HashedTable {
    const row = parts.database
      .query<{ last: bigint | null }, []>(`SELECT max(${keyOf(definition)}) AS last FROM ${definition.name}`)
      .get()
    return new HashedTable(parts, definition, row?.last ?? 0n)
  }

  /** The id that the next row gets. */
  get nextId(): bigint {
    return this.#nextId
  }

  /**
   * Inside a step: appends a row, with its covered columns and those that change later. Returns its id; null, and
   * writes nothing, if a unique column has this value already.
   */
  insert(columns: readonly SqlValue[], changing: readonly SqlValue[] = []): bigint | null {
    return this.#append(this.#insert, columns, changing)
  }

  /** Like `insert`, for a row that needs the columns that were added later. */
  insertWith(added: readonly SqlValue[], columns: readonly SqlValue[]): bigint | null {
    if (this.#insertAdded === undefined) throw new Error('No column was added to this table.')
    return this.#append(this.#insertAdded, [...columns, ...added], [])
  }

  #append(insert: Statement, columns: readonly SqlValue[], changing: readonly SqlValue[]): bigint | null {
    const values = [this.#nextId, ...columns, this.#commitLog.currentId]
    // As one array: spreading so many values costs as much as binding them.
    const { changes } = insert.run(changing.length === 0 ? values : [...values, ...changing])
    if (changes === 0) return null
    this.#commitLog.add(this.#definition.tag, values)
    const id = this.#nextId
    this.#nextId += 1n
    return id
  }
}
