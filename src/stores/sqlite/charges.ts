import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { ZERO } from '../../domain/money.ts'
import type { Charge } from '../../gateway/ports/ledger.ts'
import { chargeRow, type ChargeBooking, type ChargedRow } from '../books/charges.ts'
import { UsageDaySums } from '../books/usage-days.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { Tables } from './hashed-table.ts'
import type { LimitSteps } from './limits/limit-steps.ts'
import type { Tariffs } from './tariffs.ts'
import type { Transactions } from './transactions.ts'
import { UsageDayTable } from './usage-days.ts'

/**
 * Writes charges, and their sums into the table `usage_days`: one write for each of its rows and commit, however many charges that has.
 */
export class Charges {
  readonly #books: BooksOfAccounts
  readonly #tariffs: Tariffs
  readonly #limits: LimitSteps
  readonly #table: Tables['charges']
  readonly #selectFirst: Statement<ChargedRow, [bigint, bigint]>
  readonly #days: UsageDayTable
  /** What the running transaction adds to the usage. */
  readonly #sums = new UsageDaySums()

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly tables: Tables
    readonly booksOfAccounts: BooksOfAccounts
    readonly tariffs: Tariffs
    readonly limits: LimitSteps
  }) {
    const { database } = parts
    this.#books = parts.booksOfAccounts
    this.#tariffs = parts.tariffs
    this.#limits = parts.limits
    this.#table = parts.tables.charges
    this.#selectFirst = database.prepare(
      'SELECT account_id, cost, shortfall FROM charges WHERE id_key = ? AND id_tail = ?',
    )
    this.#days = new UsageDayTable(database)
    parts.transactions.join({
      beforeCommit: () => this.#days.add(this.#sums),
      afterCommit: () => this.#sums.clear(),
      afterRollback: () => this.#sums.clear(),
    })
  }

  /**
   * Inside a step: writes a charge as the latest of its account. Returns false, and writes nothing, if the id was
   * charged before.
   */
  insert(books: AccountBooks, charge: Charge, booking: ChargeBooking): boolean {
    const { tariff } = charge
    const tariffId = tariff === null ? null : this.#tariffs.idOf(tariff)
    const id = this.#table.insert(chargeRow(books, charge, booking, tariffId))
    if (id === null) return false
    this.#books.stage(books).latestChargeId = id
    const { isCompensated = false } = booking
    this.#limits.spend(books, isCompensated ? { ...charge, cost: ZERO } : charge)
    this.#sums.add(books.accountId, id, charge, isCompensated)
    return true
  }

  /** The charge of an id; null if there is none. */
  first({ key, tail }: Id): ChargedRow | null {
    return this.#selectFirst.get(key, tail)
  }
}
