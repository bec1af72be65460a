import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { CommitLog } from './commit-log.ts'
import { HashedTable } from './hashed-table.ts'
import {
  allColumnsOf,
  formOf,
  selectCovered,
  type ColumnType,
  type HashedTableDefinition,
  type NewRow,
} from '../../books/rows/hashed-table.ts'
import { chargesTable } from '../../books/rows/money-tables.ts'
import { hashedTables } from '../../books/rows/hashed-tables.ts'
import { jobEventsTable } from '../../books/rows/work-tables.ts'
import { migrate } from '../database/migrate.ts'
import { Transactions } from './transactions.ts'

/** An empty store that accepts any values, so that each column can have one of its own. */
function aTable<Definition extends HashedTableDefinition>(definition: Definition) {
  const database = new Database(':memory:', { safeIntegers: true, strict: true })
  migrate(database)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  const commitLog = CommitLog.open({ database, transactions: new Transactions(database) })
  return { database, table: HashedTable.open({ database, commitLog }, definition) }
}

function valueFor(type: ColumnType, index: number): SqlValue {
  if (type === 'blob') return new Uint8Array([index])
  return type.startsWith('text') ? `text ${index}` : BigInt(index)
}

function distinctRow({ columns, added = {}, named = {}, changing = {} }: HashedTableDefinition) {
  const all = Object.entries({ ...columns, ...added, ...named, ...changing })
  return Object.fromEntries(all.map(([name, type], index) => [name, valueFor(type, index + 100)]))
}

describe('a row of a hashed table', () => {
  test.each(hashedTables.map(table => [table.name, table] as const))(
    'a row of a hashed table of %s has each value in its own column',
    (name, definition) => {
      const { database, table } = aTable<HashedTableDefinition>(definition)
      const row = distinctRow(definition)

      const id = table.insert(row)

      const stored = database.query<Record<string, SqlValue>, []>(`SELECT * FROM ${name}`).get()
      expect(id).toBe(1n)
      expect(stored).toMatchObject(row)
    },
  )

  test('a row of a hashed table has the columns that were added later in its form only if they are not null', () => {
    const { database, table } = aTable(jobEventsTable)
    const event = { job: 7, state: 'queued', detail: null, at_ms: 9 }
    table.insert(event)
    table.insert({ ...event, facts: '{}' })

    const rows = database.query(`${selectCovered(jobEventsTable)} ORDER BY row_id`).values() as SqlValue[][]

    expect(rows.map(row => formOf(jobEventsTable, row))).toEqual([
      [1n, 7n, 'queued', null, 9n, 1n],
      [2n, 7n, 'queued', null, 9n, 'facts', '{}', 1n],
    ])
  })

  test('a row of a hashed table has another form if a value moves from one added column to another', () => {
    const columns = allColumnsOf(chargesTable)
    const formWith = (name: string) =>
      formOf(
        chargesTable,
        columns.map(column => (column === name ? 5n : null)),
      )

    expect(formWith('search_calls')).not.toEqual(formWith('file_searches'))
  })
})

/** Only compiled: the checks are the types. */
export function typesOfRows(): readonly NewRow<typeof jobEventsTable>[] {
  const whole = { job: 1, state: 'queued', detail: null, at_ms: 2 }
  return [
    whole,
    { ...whole, facts: '{}' },
    // @ts-expect-error A column is missing.
    { job: 1, state: 'queued', at_ms: 2 },
    // @ts-expect-error The table has no such column.
    { job: 1, state: 'queued', detail: null, at_ms: 2, number: 3 },
    // @ts-expect-error The column is a number.
    { ...whole, at_ms: 'today' },
    // @ts-expect-error The column is never null.
    { ...whole, job: null },
  ]
}
