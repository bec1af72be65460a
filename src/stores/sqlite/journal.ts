import { post } from '../../domain/ledger/post.ts'
import { addOperation, operationRow, type Operation } from '../books/operation-rows.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { Tables } from './hashed-table.ts'
import type { BalanceAlerts } from './webhooks/balance-alerts.ts'

/** Writes operations: the only code that changes a balance. */
export class Journal {
  readonly #books: BooksOfAccounts
  readonly #table: Tables['operations']
  readonly #alerts: BalanceAlerts

  constructor(parts: {
    readonly tables: Tables
    readonly booksOfAccounts: BooksOfAccounts
    readonly balanceAlerts: BalanceAlerts
  }) {
    this.#books = parts.booksOfAccounts
    this.#table = parts.tables.operations
    this.#alerts = parts.balanceAlerts
  }

  /** The row id that the next operation gets. */
  get nextOperationId(): bigint {
    return this.#table.nextId
  }

  /**
   * Inside a step: writes an operation with its entries, and stages the balances after them. Returns its row id, or
   * null for an operation that moves nothing, which is not written.
   */
  write(books: AccountBooks, operation: Operation): bigint | null {
    const { kind, movements } = operation
    const entries = post(books.current.balances, movements)
    const row = operationRow(books, operation, entries)
    if (row === null) return null
    const id = this.#table.insert(row)
    if (id === null) throw new Error('The row id of the operation is in use.')
    addOperation(this.#books.stage(books), id, kind, entries)
    if (books.current.alert !== null) this.#alerts.check(books, operation.atMs)
    return id
  }

  /** Inside a step: like `write`, for an operation that moves an amount of more than zero. */
  move(books: AccountBooks, operation: Operation): bigint {
    const id = this.write(books, operation)
    if (id === null) throw new Error(`A ${operation.kind} of nothing is not recorded.`)
    return id
  }
}
