import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from '../../books/rows/canonical.ts'
import {
  accountsTable,
  adminTokensTable,
  apiKeysTable,
  auditTable,
  keySecretsTable,
  projectsTable,
  secretEndsTable,
} from '../../books/rows/access-tables.ts'
import {
  allColumnsOf,
  columnsOf,
  formOf,
  keyOf,
  type HashedTableDefinition,
  type NewRow,
} from '../../books/rows/hashed-table.ts'
import { attemptsTable, jobEventsTable, jobsTable } from '../../books/rows/work-tables.ts'
import {
  chargesTable,
  correctionsTable,
  creditsTable,
  holdsTable,
  operationsTable,
  tariffsTable,
} from '../../books/rows/money-tables.ts'
import type { CommitLog } from './commit-log.ts'

/** The tables that commits cover. All nodes of a store share them, because they count rows. */
export type Tables = ReturnType<typeof openTables>

/** Reads the last row id of each table. */
export function openTables(parts: { readonly database: Database; readonly commitLog: CommitLog }) {
  const open = <Definition extends HashedTableDefinition>(definition: Definition) =>
    HashedTable.open(parts, definition)
  return {
    operations: open(operationsTable),
    charges: open(chargesTable),
    credits: open(creditsTable),
    corrections: open(correctionsTable),
    tariffs: open(tariffsTable),
    holds: open(holdsTable),
    attempts: open(attemptsTable),
    auditLog: open(auditTable),
    accounts: open(accountsTable),
    apiKeys: open(apiKeysTable),
    adminTokens: open(adminTokensTable),
    projects: open(projectsTable),
    jobs: open(jobsTable),
    jobEvents: open(jobEventsTable),
    keySecrets: open(keySecretsTable),
    secretEnds: open(secretEndsTable),
  }
}

type Parts = { readonly database: Database; readonly commitLog: CommitLog }

/** Appends rows to a table that commit hashes cover. Row ids grow; one that is not used leaves a gap. */
export class HashedTable<Definition extends HashedTableDefinition = HashedTableDefinition> {
  readonly definition: Definition
  readonly #commitLog: CommitLog
  readonly #columns: readonly string[]
  readonly #addedLater: readonly string[]
  readonly #changing: readonly string[]
  readonly #insert: Statement
  /** With the columns that were added later, which most rows do not need. */
  readonly #insertAll: Statement
  #nextId: bigint

  private constructor(parts: Parts, definition: Definition, lastId: bigint) {
    const { name, columns, added = {}, named = {}, changing = {} } = definition
    this.definition = definition
    this.#commitLog = parts.commitLog
    this.#columns = Object.keys(columns)
    this.#addedLater = Object.keys({ ...added, ...named })
    this.#changing = Object.keys(changing)
    const prepare = (covered: readonly string[]) => {
      const all = [...covered, ...this.#changing]
      return parts.database.prepare(
        `INSERT INTO ${name} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
      )
    }
    this.#insert = prepare(columnsOf(definition))
    this.#insertAll = prepare(allColumnsOf(definition))
    this.#nextId = lastId + 1n
  }

  /** Reads the last row id. */
  static open<Definition extends HashedTableDefinition>(
    parts: Parts,
    definition: Definition,
  ): HashedTable<Definition> {
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
   * Inside a step: appends a row. Returns its id. If a unique column has this value already, it writes nothing and
   * returns null.
   */
  insert(row: NewRow<Definition>): bigint | null {
    const id = this.#nextId
    // The names come from the definition that also types the row.
    const given = row as Readonly<Record<string, SqlValue | undefined>>
    let needsAll = false
    for (const name of this.#addedLater) if ((given[name] ?? null) !== null) needsAll = true
    const values: SqlValue[] = [id]
    for (const name of this.#columns) values.push(given[name] ?? null)
    if (needsAll) for (const name of this.#addedLater) values.push(given[name] ?? null)
    values.push(this.#commitLog.currentId)
    const covered = values.length
    for (const name of this.#changing) values.push(given[name] ?? null)
    // As one array: spreading so many values costs as much as binding them.
    const { changes } = (needsAll ? this.#insertAll : this.#insert).run(values)
    if (changes === 0) return null
    if (this.#changing.length > 0) values.length = covered
    this.#commitLog.add(this.definition.tag, needsAll ? formOf(this.definition, values) : values)
    this.#nextId += 1n
    return id
  }
}
