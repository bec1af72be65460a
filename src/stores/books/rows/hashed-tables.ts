import {
  auditTable,
  accountsTable,
  apiKeysTable,
  adminTokensTable,
  projectsTable,
  keySecretsTable,
  secretEndsTable,
} from './access-tables.ts'
import type { HashedTableDefinition } from './hashed-table.ts'
import {
  operationsTable,
  chargesTable,
  creditsTable,
  tariffsTable,
  holdsTable,
  correctionsTable,
} from './money-tables.ts'
import { attemptsTable, jobsTable, jobEventsTable } from './work-tables.ts'

/** The tables that commits cover since migration 0010. */
export const ledgerTables: readonly HashedTableDefinition[] = [
  operationsTable,
  chargesTable,
  creditsTable,
  tariffsTable,
]

/** The tables that commits cover since migration 0011. */
export const creationTables: readonly HashedTableDefinition[] = [
  attemptsTable,
  auditTable,
  accountsTable,
  apiKeysTable,
  holdsTable,
  jobsTable,
  jobEventsTable,
]

/** In the order in which a commit covers them. */
export const hashedTables: readonly HashedTableDefinition[] = [
  ...ledgerTables,
  ...creationTables,
  correctionsTable,
  adminTokensTable,
  projectsTable,
  keySecretsTable,
  secretEndsTable,
]
