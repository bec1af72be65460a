import type { Database } from 'bun:sqlite'
import { creditedIn, type HoldKind } from '../../domain/ledger/books.ts'
import { addUsd, nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { Balance, Ledger } from '../../gateway/ports/ledger.ts'
import { createBooksOfAccounts, freeOf } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { createCharges } from './charges.ts'
import { createCompensations } from './compensations.ts'
import { createCredits } from './credits.ts'
import { createDurableHolds } from './durable-holds.ts'
import type { GroupCommit } from './group-commit.ts'
import { createJournal } from './journal.ts'
import { createStatement } from './statement.ts'
import type { Tariffs } from './tariffs.ts'
import { createVerify } from './verify/verify.ts'
import { createVolatileHolds, type Holds } from './volatile-holds.ts'

export type SqliteLedger = Ledger & {
  /** What all accounts together hold now. */
  heldNow(kind: HoldKind): NanoUsd
}

/** The books on SQLite. Text holds are volatile, media holds are rows. */
export function createLedger(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
  readonly tariffs: Tariffs
}): SqliteLedger {
  const { database, groupCommit, tariffs } = parts
  const booksOfAccounts = createBooksOfAccounts(database, groupCommit)
  const journal = createJournal(database, groupCommit, booksOfAccounts)
  const charges = createCharges(database, booksOfAccounts, tariffs)
  const shared = { ...parts, booksOfAccounts, journal, charges }
  const text = createVolatileHolds(shared)
  const holds = { text, media: createDurableHolds(shared) } as const satisfies Record<HoldKind, Holds>
  const mediaHeld = database.prepare<{ held: bigint }, []>(
    "SELECT ifnull(sum(amount), 0) AS held FROM holds WHERE state = 'open'",
  )

  async function balance(accountId: number): Promise<Balance> {
    const books = booksOfAccounts.of(accountId)
    const { balances } = books.committed
    return {
      available: freeOf(books),
      held: { text: addUsd(balances['held.text'], books.heldInMemory), media: balances['held.media'] },
      spent: { text: balances['revenue.text'], media: balances['revenue.media'] },
      credited: creditedIn(balances),
    }
  }

  return {
    ...createCredits(shared),
    placeHold: request => holds[request.kind].placeHold(request),
    captureHold: (hold, charge) => holds[hold.kind].captureHold(hold, charge),
    releaseHold: (hold, atMs) => holds[hold.kind].releaseHold(hold, atMs),
    ...createCompensations(shared),
    onFreed: listener => booksOfAccounts.onFreed(listener),
    balance,
    ...createStatement(database, booksOfAccounts),
    async usage(accountId, page) {
      return charges.page(accountId === undefined ? undefined : booksOfAccounts.of(accountId), page)
    },
    ...createVerify(database),
    heldNow: kind => (kind === 'text' ? text.held() : nanoUsd(mediaHeld.get()?.held ?? 0n)),
  }
}
