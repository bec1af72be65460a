import type { Database } from 'bun:sqlite'
import type { CommitLog } from './commit-log.ts'
import { HashedTable } from './hashed-table.ts'
import { accountsTable, apiKeysTable, attemptsTable, jobEventsTable, jobsTable } from './hashed-tables.ts'

/**
 * The tables of which commits cover what was written with each row. All nodes of a store share them, because they count
 * rows.
 */
export type CreationTables = ReturnType<typeof creationTablesOf>

export function creationTablesOf(parts: { readonly database: Database; readonly commitLog: CommitLog }) {
  return {
    accounts: new HashedTable(parts, accountsTable),
    apiKeys: new HashedTable(parts, apiKeysTable),
    attempts: new HashedTable(parts, attemptsTable),
    jobs: new HashedTable(parts, jobsTable),
    jobEvents: new HashedTable(parts, jobEventsTable),
  }
}
