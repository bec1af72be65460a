import type { Id } from '../../domain/ids.ts'
import { post, type Entry, type Movement } from '../../domain/ledger/post.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { HashedTable } from './hashed-table.ts'
import type { Tables } from './tables.ts'

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
  readonly #table: HashedTable

  constructor(parts: { readonly tables: Tables; readonly booksOfAccounts: BooksOfAccounts }) {
    this.#books = parts.booksOfAccounts
    this.#table = parts.tables.operations
  }

  /** The row id that the next operation gets. */
  get nextOperationId(): bigint {
    return this.#table.nextId
  }

  /**
   * Inside a step: writes an operation with its entries, and stages the balances after them. Returns its row id, or
   * null for an operation that moves nothing, which is not written.
   */
  write(books: AccountBooks, { kind, subject, movements, atMs }: Operation): bigint | null {
    const { balances, operationCount, latestOperationId } = books.current
    const entries = post(balances, movements)
    const [first, second, third] = entries
    if (first === undefined || second === undefined) return null
    if (entries.length > 3)
      throw new Error(`A ${kind} touches ${entries.length} books; a row has room for three.`)
    const id = this.#table.insert([
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
    ])
    if (id === null) throw new Error('The row id of the operation is in use.')
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
