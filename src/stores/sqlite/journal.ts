import type { Id } from '../../domain/ids.ts'
import { post, type Entry, type Movement } from '../../domain/ledger/post.ts'
import { addUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import { lossIn, type OperationKind } from '../../domain/ledger/operation.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
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
  readonly #table: Tables['operations']

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
    const id = this.#table.insert({
      account_id: books.accountId,
      number: operationCount + 1,
      previous_id: latestOperationId,
      kind,
      subject_key: subject.key,
      subject_tail: subject.tail,
      amount: availableIn(entries),
      at_ms: atMs,
      book_1: first.book,
      amount_1: first.amount,
      balance_after_1: first.balanceAfter,
      book_2: second.book,
      amount_2: second.amount,
      balance_after_2: second.balanceAfter,
      book_3: third?.book ?? null,
      amount_3: third?.amount ?? null,
      balance_after_3: third?.balanceAfter ?? null,
    })
    if (id === null) throw new Error('The row id of the operation is in use.')
    const staged = this.#books.stage(books)
    for (const { book, balanceAfter } of entries) staged.balances[book] = balanceAfter
    staged.bookedLosses = addUsd(staged.bookedLosses, lossIn(kind, entries))
    staged.operationCount += 1
    staged.latestOperationId = id
    return id
  }

  /** Inside a step: like `write`, for an operation that moves an amount of more than zero. */
  move(books: AccountBooks, operation: Operation): bigint {
    const id = this.write(books, operation)
    if (id === null) throw new Error(`A ${operation.kind} of nothing is not recorded.`)
    return id
  }
}

/** The change of the account's available balance. */
function availableIn(entries: readonly Entry[]): NanoUsd {
  for (const { book, amount } of entries) if (book === 'available') return amount
  return ZERO
}
