import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { post, type Entry, type Movement } from '../../domain/ledger/post.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import { nextRowId } from './row-ids.ts'

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
  #nextId: bigint

  constructor(parts: { readonly database: Database; readonly booksOfAccounts: BooksOfAccounts }) {
    this.#books = parts.booksOfAccounts
    this.#insert = parts.database.prepare(
      `INSERT INTO operations (id, account_id, number, previous_id, kind, subject_key, subject_tail, amount, at_ms,
          book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2, book_3, amount_3, balance_after_3)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#nextId = nextRowId(parts.database, 'operations')
  }

  /** The row id that the next operation gets. */
  get nextOperationId(): bigint {
    return this.#nextId
  }

  /**
   * Inside a step: writes an operation with its entries, and stages the balances after them. Returns its row id, or null for
   * an operation that moves nothing, which is not written.
   */
  write(books: AccountBooks, { kind, subject, movements, atMs }: Operation): bigint | null {
    const { balances, operationCount, latestOperationId } = books.current
    const entries = post(balances, movements)
    const [first, second, third] = entries
    if (first === undefined || second === undefined) return null
    if (entries.length > 3)
      throw new Error(`A ${kind} touches ${entries.length} books; a row has room for three.`)
    // A row id that is rolled back leaves a gap. The number within the account does not.
    const id = this.#nextId
    this.#nextId += 1n
    this.#insert.run(
      id,
      books.accountId,
      operationCount + 1,
      latestOperationId,
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
    staged.operationCount += 1
    staged.latestOperationId = id
    return id
  }
}

/** The change of the account's available balance. */
function availableIn(entries: readonly Entry[]): NanoUsd {
  for (const { book, amount } of entries) if (book === 'available') return amount
  return ZERO
}
