import { post } from '../../../domain/ledger/post.ts'
import { operationsTable } from '../rows/money-tables.ts'
import { addOperation, operationRow, type Operation, type StepBooks } from '../rows/operation-rows.ts'
import { insert, type Step } from '../steps.ts'

/** Called after each change of a balance, in the same step. */
export type BalanceWatch = { check(books: StepBooks, atMs: number): Step<void> }

/** Writes operations: the only code that changes a balance. */
export class Journal {
  readonly #alerts: BalanceWatch

  constructor({ balanceAlerts }: { readonly balanceAlerts: BalanceWatch }) {
    this.#alerts = balanceAlerts
  }

  /**
   * Writes an operation with its entries, and stages the balances after them. Returns its row id, or null for an
   * operation that moves nothing, which is not written.
   */
  *write(books: StepBooks, operation: Operation): Step<bigint | null> {
    const { kind, movements } = operation
    const entries = post(books.current.balances, movements)
    const row = operationRow(books, operation, entries)
    if (row === null) return null
    const id = yield* insert(operationsTable, row)
    if (id === null) throw new Error('The row id of the operation is in use.')
    addOperation(books.stage(), id, kind, entries)
    if (books.current.alert !== null) yield* this.#alerts.check(books, operation.atMs)
    return id
  }

  /** Like `write`, for an operation that moves an amount of more than zero. */
  *move(books: StepBooks, operation: Operation): Step<bigint> {
    const id = yield* this.write(books, operation)
    if (id === null) throw new Error(`A ${operation.kind} of nothing is not recorded.`)
    return id
  }
}
