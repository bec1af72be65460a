import type { Database, Statement } from 'bun:sqlite'
import type { Balances } from '../../domain/ledger/books.ts'
import { nanoUsd, type NanoUsd } from '../../domain/money.ts'

/** The balances of an account's books, and the ends of its chains of operations and charges. */
export type BooksState = {
  readonly balances: Balances
  /** The sum of its loss operations. */
  readonly bookedLosses: NanoUsd
  /** The number of its operations, which is the number of the latest one. */
  readonly operationCount: number
  readonly latestOperationId: bigint | null
  readonly latestChargeId: bigint | null
}

/** The table `balances`: one row for each account. */
export class BalancesTable {
  readonly #select: Statement<BalancesRow, [number]>
  readonly #update: Statement

  constructor(database: Database) {
    this.#select = database.prepare('SELECT * FROM balances WHERE account_id = ?')
    this.#update = database.prepare(
      `UPDATE balances SET available = ?, held_text = ?, held_media = ?, cash = ?, promotions = ?, revenue_text = ?,
        revenue_media = ?, losses = ?, booked_losses = ?, operation_count = ?, latest_operation_id = ?, latest_charge_id = ?
        WHERE account_id = ?`,
    )
  }

  /** Throws a RangeError for an account that does not exist. */
  read(accountId: number): BooksState {
    const row = this.#select.get(accountId)
    if (row === null) throw new RangeError(`There is no account ${accountId}.`)
    return booksStateFrom(row)
  }

  write(accountId: number, state: BooksState): void {
    const { balances } = state
    this.#update.run(
      balances.available,
      balances['held.text'],
      balances['held.media'],
      balances.cash,
      balances.promotions,
      balances['revenue.text'],
      balances['revenue.media'],
      balances.losses,
      state.bookedLosses,
      state.operationCount,
      state.latestOperationId,
      state.latestChargeId,
      accountId,
    )
  }
}

export type BalancesRow = {
  account_id: bigint
  available: bigint
  held_text: bigint
  held_media: bigint
  cash: bigint
  promotions: bigint
  revenue_text: bigint
  revenue_media: bigint
  losses: bigint
  booked_losses: bigint
  operation_count: bigint
  latest_operation_id: bigint | null
  latest_charge_id: bigint | null
}

export function booksStateFrom(row: BalancesRow): BooksState {
  return {
    balances: {
      available: nanoUsd(row.available),
      'held.text': nanoUsd(row.held_text),
      'held.media': nanoUsd(row.held_media),
      cash: nanoUsd(row.cash),
      promotions: nanoUsd(row.promotions),
      'revenue.text': nanoUsd(row.revenue_text),
      'revenue.media': nanoUsd(row.revenue_media),
      losses: nanoUsd(row.losses),
    },
    bookedLosses: nanoUsd(row.booked_losses),
    operationCount: Number(row.operation_count),
    latestOperationId: row.latest_operation_id,
    latestChargeId: row.latest_charge_id,
  }
}
