import type { Database } from 'bun:sqlite'
import { creditedIn, type HoldKind } from '../../domain/ledger/books.ts'
import { addUsd, nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { Balance, Ledger } from '../../gateway/ports/ledger.ts'
import { BooksOfAccounts, type AccountBooks } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { Charges } from './charges.ts'
import { Compensations } from './compensations.ts'
import { Credits } from './credits.ts'
import { DurableHolds } from './durable-holds.ts'
import { FreedHints } from './freed-hints.ts'
import type { GroupCommit } from './group-commit.ts'
import { Journal } from './journal.ts'
import { createStatement } from './statement.ts'
import type { Tariffs } from './tariffs.ts'
import type { Transactions } from './transactions.ts'
import { createUsageList } from './usage-list.ts'
import { createVerify } from './verify/verify.ts'
import { VolatileHolds } from './volatile-holds.ts'

export type SqliteLedger = Ledger & {
  /** The amount that all accounts together hold now. */
  heldNow(kind: HoldKind): NanoUsd
}

/** The ledger on SQLite. Text holds are in memory, media holds are rows. */
export function createLedger(parts: {
  readonly database: Database
  readonly transactions: Transactions
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
  readonly tariffs: Tariffs
}): SqliteLedger {
  const { database, groupCommit } = parts
  const freedHints = new FreedHints()
  const booksOfAccounts = new BooksOfAccounts({ ...parts, freedHints })
  const journal = new Journal({ ...parts, booksOfAccounts })
  const charges = new Charges({ ...parts, booksOfAccounts })
  const steps = { ...parts, freedHints, booksOfAccounts, journal, charges }
  const text = new VolatileHolds(steps)
  const media = new DurableHolds(steps)
  const credits = new Credits(steps)
  const compensations = new Compensations(steps)
  const mediaHeld = database.prepare<{ held: bigint }, []>(
    "SELECT ifnull(sum(amount), 0) AS held FROM holds WHERE state = 'open'",
  )

  return {
    credit: request => groupCommit.run(() => credits.credit(request)),
    placeHold: ({ atMs, ...hold }) =>
      hold.kind === 'text' ? text.placeHold(hold) : groupCommit.run(() => media.place(hold, atMs)),
    captureHold: (hold, charge) =>
      hold.kind === 'text'
        ? text.captureHold(hold, charge)
        : groupCommit.run(() => media.capture(hold, charge)),
    releaseHold: (hold, atMs) =>
      hold.kind === 'text' ? text.releaseHold(hold) : groupCommit.run(() => media.release(hold, atMs)),
    compensate: (attempt, atMs) => groupCommit.run(() => compensations.compensate(attempt, atMs)),
    onFreed: listener => freedHints.listen(listener),
    balance: async accountId => balanceOf(booksOfAccounts.of(accountId)),
    ...createStatement(database, booksOfAccounts),
    ...createUsageList(database, booksOfAccounts),
    ...createVerify(database),
    heldNow: kind => (kind === 'text' ? text.held() : nanoUsd(mediaHeld.get()?.held ?? 0n)),
  }
}

function balanceOf({ free, heldInMemory, committed: { balances } }: AccountBooks): Balance {
  return {
    available: free,
    held: { text: addUsd(balances['held.text'], heldInMemory), media: balances['held.media'] },
    spent: { text: balances['revenue.text'], media: balances['revenue.media'] },
    credited: creditedIn(balances),
  }
}
