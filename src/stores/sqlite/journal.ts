import type { Database } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { post, type Entry, type Movement } from '../../domain/ledger/post.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import { standingOf, type AccountBooks, type BooksOfAccounts } from './account-books.ts'
import type { GroupCommit } from './group-commit.ts'

export type Operation = {
  readonly kind: OperationKind
  /** The caller's id of the credit, hold or charge whose operation this is. */
  readonly subject: Id
  readonly movements: readonly Movement[]
  readonly atMs: number
}

export type Journal = {
  /** The id that the next operation gets. */
  readonly nextOperationId: bigint
  /**
   * Inside a step: writes an operation and its entries and stages the balances after them. Returns its id; null for one
   * that moves nothing, which is not written.
   */
  write(books: AccountBooks, operation: Operation): bigint | null
}

/** The one way into the books. */
export function createJournal(
  database: Database,
  groupCommit: GroupCommit,
  booksOfAccounts: BooksOfAccounts,
): Journal {
  const insert = database.prepare(
    `INSERT INTO operations (id, previous_id, account_id, kind, subject_key, subject_tail, amount, at_ms,
        book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2, book_3, amount_3, balance_after_3)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const { latest } = database
    .prepare<{ latest: bigint }, []>('SELECT ifnull(max(id), 0) AS latest FROM operations')
    .get() ?? { latest: 0n }
  let committed = latest
  let written = latest

  // A number that was rolled back is given again: a gap would look like an operation that was taken away.
  groupCommit.join({
    afterCommit: () => (committed = written),
    afterRollback: () => (written = committed),
  })

  return {
    get nextOperationId() {
      return written + 1n
    },
    write(books, { kind, subject, movements, atMs }) {
      const { balances, latestOperationId } = standingOf(books)
      const entries = post(balances, movements)
      const [first, second, third] = entries
      if (first === undefined || second === undefined) return null
      if (entries.length > 3)
        throw new Error(`A ${kind} touches ${entries.length} books; a row has room for three.`)
      const id = written + 1n
      insert.run(
        id,
        latestOperationId,
        books.accountId,
        kind,
        subject.key,
        subject.tail,
        availableIn(entries),
        atMs,
        first.book,
        first.amount,
        first.balanceAfter,
        second.book,
        second.amount,
        second.balanceAfter,
        third?.book ?? null,
        third?.amount ?? null,
        third?.balanceAfter ?? null,
      )
      const staged = booksOfAccounts.stage(books)
      for (const { book, balanceAfter } of entries) staged.balances[book] = balanceAfter
      staged.latestOperationId = id
      written = id
      return id
    },
  }
}

/** The change of the account's available balance. */
function availableIn(entries: readonly Entry[]): NanoUsd {
  for (const { book, amount } of entries) if (book === 'available') return amount
  return ZERO
}
