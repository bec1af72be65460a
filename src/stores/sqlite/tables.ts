import type { Database } from 'bun:sqlite'
import type { CommitLog } from './commit-log.ts'
import { HashedTable } from './hashed-table.ts'
import {
  accountsTable,
  apiKeysTable,
  attemptsTable,
  auditTable,
  chargesTable,
  correctionsTable,
  creditsTable,
  holdsTable,
  jobEventsTable,
  jobsTable,
  operationsTable,
  tariffsTable,
  type HashedTableDefinition,
} from '../books/hashed-tables.ts'

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
    jobs: open(jobsTable),
    jobEvents: open(jobEventsTable),
  }
}
