import type { Database } from 'bun:sqlite'
import { BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { Charges } from './charges.ts'
import { Compensations } from './compensations.ts'
import { Corrections } from './corrections.ts'
import { Credits } from './credits.ts'
import { HintBroadcast } from './freed-hints.ts'
import { Journal } from './journal.ts'
import { MediaHolds } from './media-holds.ts'
import type { Tables } from './tables.ts'
import type { Tariffs } from './tariffs.ts'
import { TextHolds } from './text-holds.ts'
import type { Transactions } from './transactions.ts'

/**
 * The steps of the ledger, which all nodes of a store share. A step runs inside a transaction and is synchronous; a
 * port method is one step or several in one transaction.
 */
export type LedgerSteps = ReturnType<typeof createLedgerSteps>

export function createLedgerSteps(parts: {
  readonly database: Database
  readonly transactions: Transactions
  readonly auditLog: SqliteAuditLog
  readonly tables: Tables
  readonly tariffs: Tariffs
}) {
  const hints = new HintBroadcast()
  const booksOfAccounts = new BooksOfAccounts({ ...parts, hints })
  const journal = new Journal({ ...parts, booksOfAccounts })
  const charges = new Charges({ ...parts, booksOfAccounts })
  const shared = { ...parts, hints, booksOfAccounts, journal, charges }
  return {
    hints,
    booksOfAccounts,
    journal,
    text: new TextHolds(shared),
    media: new MediaHolds(shared),
    credits: new Credits(shared),
    corrections: new Corrections(shared),
    compensations: new Compensations(shared),
  }
}
