import type { Database, Statement } from 'bun:sqlite'
import type { ChargeEffects } from '../../books/ledger/charges.ts'
import type { StepBooks } from '../../books/rows/operation-rows.ts'
import { ADD_TO_DAY, daySumValues, UsageDaySums } from '../../books/usage/usage-days.ts'
import { AccountBooks } from './account-books.ts'
import type { LimitSteps } from '../limits/limit-steps.ts'
import type { Tariffs } from './tariffs.ts'
import type { Transactions } from '../commits/transactions.ts'

/**
 * The effects of charges in SQLite: their budgets in memory, and their sums in the table `usage_days` with one write
 * for each of its rows and commit, however many charges that has.
 */
export function createChargeEffects(parts: {
  readonly database: Database
  readonly transactions: Transactions
  readonly tariffs: Tariffs
  readonly limits: LimitSteps
}): ChargeEffects {
  const { tariffs, limits } = parts
  const days = new UsageDayTable(parts.database)
  /** The usage that the running transaction adds. */
  const sums = new UsageDaySums()
  parts.transactions.join({
    beforeCommit: () => days.add(sums),
    afterCommit: () => sums.clear(),
    afterRollback: () => sums.clear(),
  })
  return {
    *tariffId(tariff) {
      return tariffs.idOf(tariff)
    },
    spend(books, charge) {
      const ofAccount = inMemory(books)
      if (ofAccount.mayBeLimited) limits.spend(ofAccount, charge)
      return undefined
    },
    addUsage(accountId, chargeId, charge, isCompensated) {
      sums.add(accountId, chargeId, charge, isCompensated)
      return undefined
    },
  }
}

/** The books that SQLite gives to steps. */
export function inMemory(books: StepBooks): AccountBooks {
  if (books instanceof AccountBooks) return books
  throw new Error('The books of an account are not those of this store.')
}

/** The table `usage_days`. */
export class UsageDayTable {
  readonly #upsert: Statement

  constructor(database: Database) {
    this.#upsert = database.prepare(ADD_TO_DAY)
  }

  /** Inside a transaction: adds sums to their rows. */
  add(sums: UsageDaySums): void {
    for (const sum of sums.all) this.#upsert.run(...daySumValues(sum))
  }
}
