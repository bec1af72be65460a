import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { post, type Entry, type Movement } from '../../domain/ledger/post.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { Transactions } from './transactions.ts'

export type Operation = {
  readonly kind: OperationKind
  /** The caller's id of the credit, hold or charge that the operation belongs to. */
  readonly subject: Id
  readonly movements: readonly Movement[]
  readonly atMs: number
}

/** Writes operations: the only code that changes a balance. */
export class Journal {
  readonly #books: BooksOfAccounts
  readonly #insert: Statement
  #committed: bigint
  #written: bigint

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly booksOfAccounts: BooksOfAccounts
  }) {
    const { database, transactions } = parts
    this.#books = parts.booksOfAccounts
    this.#insert = database.prepare(
      `INSERT INTO operations (id, previous_id, account_id, kind, subject_key, subject_tail, amount, at_ms,
          book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2, book_3, amount_3, balance_after_3)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const last = database.prepare<{ id: bigint }, []>('SELECT ifnull(max(id), 0) AS id FROM operations').get()
    this.#committed = this.#written = last?.id ?? 0n
    // An id that was rolled back is given again: a gap would look like a deleted operation.
    transactions.join({
      afterCommit: () => (this.#committed = this.#written),
      afterRollback: () => (this.#written = this.#committed),
    })
  }

  /** The id that the next operation gets. */
  get nextOperationId(): bigint {
    return this.#written + 1n
  }

  /**
   * Inside a step: writes an operation with its entries, and stages the balances after them. Returns its id, or null for an
   * operation that moves nothing, which is not written.
   */
  write(books: AccountBooks, { kind, subject, movements, atMs }: Operation): bigint | null {
    const { balances, latestOperationId } = books.current
    const entries = post(balances, movements)
    const [first, second, third] = entries
    if (first === undefined || second === undefined) return null
    if (entries.length > 3)
      throw new Error(`A ${kind} touches ${entries.length} books; a row has room for three.`)
    const id = this.nextOperationId
    this.#insert.run(
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
    const staged = this.#books.stage(books)
    for (const { book, balanceAfter } of entries) staged.balances[book] = balanceAfter
    staged.latestOperationId = id
    this.#written = id
    return id
  }
}

/** The change of the account's available balance. */
function availableIn(entries: readonly Entry[]): NanoUsd {
  return entries.find(({ book }) => book === 'available')?.amount ?? ZERO
}
