import type { SQL } from 'bun'
import { booksInconsistent } from '../../../domain/errors.ts'
import { nanoUsd, subtractUsd, type NanoUsd } from '../../../domain/money.ts'
import {
  booksStateFrom,
  type AccountColumns,
  type BalancesRow,
  type BooksState,
  type StagedBooks,
  type StepBooks,
} from '../../books/rows/operation-rows.ts'
import { operationsTable } from '../../books/rows/money-tables.ts'
import type { StepWrites } from '../lanes/step-writes.ts'
import { noBooks } from '../../books/ledger/holds.ts'

type LockWrites = Pick<StepWrites, 'sql' | 'nextId'>

/** The books of an account whose row of balances is locked until the transaction ends. */
export class LockedBooks implements StepBooks {
  readonly accountId: number
  readonly heldText: NanoUsd
  readonly #stored: BooksState
  readonly #writes: LockWrites
  #staged: StagedBooks | undefined

  private constructor(
    accountId: number,
    of: { readonly stored: BooksState; readonly heldText: NanoUsd; readonly writes: LockWrites },
  ) {
    this.accountId = accountId
    this.#stored = of.stored
    this.heldText = of.heldText
    this.#writes = of.writes
  }

  /**
   * Locks the books and reads them. Throws a RangeError for an account that does not exist, and `books_inconsistent`
   * for one without its row.
   */
  static async lock(writes: LockWrites, accountId: number): Promise<LockedBooks> {
    const { sql } = writes
    const [row] = await sql<(BalancesRow & { reserved: bigint })[]>`
      SELECT * FROM balances WHERE account_id = ${accountId} FOR NO KEY UPDATE`
    // Read after the lock, because another step may have changed it while this one waited.
    const [account] = await sql<AccountColumns[]>`
      SELECT CASE WHEN closed_at_ms IS NULL THEN 0::bigint ELSE 1::bigint END AS is_closed, below, is_low
        FROM accounts LEFT JOIN balance_alerts ON account_id = id WHERE id = ${accountId}`
    if (row !== undefined && account !== undefined)
      return new LockedBooks(accountId, {
        stored: booksStateFrom(row, account),
        heldText: nanoUsd(row.reserved),
        writes,
      })
    const noRow = noBooks(accountId)
    throw account === undefined ? noRow : booksInconsistent('account', noRow)
  }

  get current(): BooksState {
    return this.#staged ?? this.#stored
  }

  get free(): NanoUsd {
    return subtractUsd(this.current.balances.available, this.heldText)
  }

  stage(): StagedBooks {
    this.#staged ??= { ...this.#stored, balances: { ...this.#stored.balances } }
    return this.#staged
  }

  nextOperationId(): bigint {
    return this.#writes.nextId(operationsTable)
  }

  /** Writes the balances if the step changed them. Returns whether it did. */
  async write(sql: SQL): Promise<boolean> {
    if (this.#staged === undefined) return false
    const { balances, bookedLosses, operationCount, latestOperationId, latestChargeId } = this.#staged
    await sql`UPDATE balances SET available = ${balances.available}, held_text = ${balances['held.text']},
        held_media = ${balances['held.media']}, cash = ${balances.cash}, promotions = ${balances.promotions},
        revenue_text = ${balances['revenue.text']}, revenue_media = ${balances['revenue.media']},
        losses = ${balances.losses}, booked_losses = ${bookedLosses}, operation_count = ${BigInt(operationCount)},
        latest_operation_id = ${latestOperationId}, latest_charge_id = ${latestChargeId}
      WHERE account_id = ${this.accountId}`
    return true
  }
}
