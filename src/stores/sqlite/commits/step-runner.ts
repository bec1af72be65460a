import type { Database, Statement } from 'bun:sqlite'
import type { SqlValue } from '../../books/rows/canonical.ts'
import type { HashedTableDefinition } from '../../books/rows/hashed-table.ts'
import type { BooksOfAccounts } from '../ledger/account-books.ts'
import type { Ask, StepRunner, Step } from '../../books/steps.ts'
import type { GroupCommit } from './group-commit.ts'
import type { HashedTable, Tables } from './hashed-table.ts'

/** Drives steps to their end inside a transaction that has begun: it answers what they ask. */
export class StepDriver {
  readonly #database: Database
  readonly #tables: ReadonlyMap<HashedTableDefinition, HashedTable>
  readonly #booksOfAccounts: BooksOfAccounts
  /** By their texts. Those of the runtime's own cache are too few. */
  readonly #statements = new Map<string, Statement<unknown, SqlValue[]>>()

  constructor(parts: {
    readonly database: Database
    readonly tables: Tables
    readonly booksOfAccounts: BooksOfAccounts
  }) {
    this.#database = parts.database
    this.#booksOfAccounts = parts.booksOfAccounts
    this.#tables = new Map(
      Object.entries(parts.tables).map(([, table]) => [table.definition, table as HashedTable]),
    )
  }

  run<T>(step: Step<T>): T {
    for (let asked = step.next(); ; asked = step.next(this.#answer(asked.value)))
      if (asked.done === true) return asked.value
  }

  #answer(ask: Ask): unknown {
    switch (ask.kind) {
      case 'query':
        return this.#statement(ask.sql).all(...ask.values)
      case 'insert':
        return this.#table(ask.table).insert(ask.row as never)
      case 'books':
        return this.#booksOfAccounts.of(ask.accountId)
      case 'lock':
        // No other step runs.
        return undefined
      case 'after':
        // No other code runs before the commit. If it fails, what was forgotten is read again.
        return ask.call()
    }
  }

  /** The texts of steps are few: values are never part of one. */
  #statement(sql: string): Statement<unknown, SqlValue[]> {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }

  #table(definition: HashedTableDefinition): HashedTable {
    const table = this.#tables.get(definition)
    if (table === undefined) throw new Error(`The table ${definition.name} is not open.`)
    return table
  }
}

/** The steps of one node. SQLite has one writer, so all of them run one after the other. */
export function createStepRunner(parts: {
  readonly groupCommit: GroupCommit
  readonly stepDriver: StepDriver
}): StepRunner {
  const { groupCommit, stepDriver } = parts
  return {
    write: (_lock, step) => groupCommit.run(() => stepDriver.run(step())),
    read: async step => stepDriver.run(step()),
  }
}
