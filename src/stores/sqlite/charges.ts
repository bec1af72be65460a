import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { ZERO } from '../../domain/money.ts'
import type { Charge } from '../../gateway/ports/charge.ts'
import { chargeRow, type ChargeBooking, type ChargedRow } from '../books/charge-rows.ts'
import { UsageDaySums } from '../books/usage-days.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { Tables } from './hashed-table.ts'
import type { LimitSteps } from './limits/limit-steps.ts'
import type { Tariffs } from './tariffs.ts'
import type { Transactions } from './transactions.ts'

/**
 * Writes charges, and their sums into the table `usage_days`: one write for each of its rows and commit, however many
 * charges that has.
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
    if (books.mayBeLimited) this.#limits.spend(books, isCompensated ? { ...charge, cost: ZERO } : charge)
    this.#sums.add(books.accountId, id, charge, isCompensated)
    return true
  }

  /** The charge of an id; null if there is none. */
  first({ key, tail }: Id): ChargedRow | null {
    return this.#selectFirst.get(key, tail)
  }
}

/** The table `usage_days`. */
export class UsageDayTable {
  readonly #upsert: Statement

  constructor(database: Database) {
    this.#upsert = database.prepare(ADD_TO_DAY)
  }

  /** Inside a transaction: adds sums to their rows. */
  add(sums: UsageDaySums): void {
    for (const { group, ...sum } of sums.values()) {
      this.#upsert.run(
        group.day,
        group.accountId,
        group.apiKeyId,
        group.model,
        group.provider,
        sum.first,
        sum.latest,
        sum.charges,
        sum.inputTokens,
        sum.outputTokens,
        sum.images,
        sum.durationMs,
        sum.cost,
        sum.compensated,
        sum.providerCost,
        sum.chargesWithoutCost,
      )
    }
  }
}

const ADD_TO_DAY = `INSERT INTO usage_days (day, account_id, api_key_id, model, provider, first_charge_id, latest_charge_id,
    charges, input_tokens, output_tokens, images, duration_ms, cost, compensated, provider_cost, charges_without_cost)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (day, account_id, api_key_id, model, provider) DO UPDATE SET
    first_charge_id = min(first_charge_id, excluded.first_charge_id),
    latest_charge_id = max(latest_charge_id, excluded.latest_charge_id),
    charges = charges + excluded.charges,
    input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    images = images + excluded.images,
    duration_ms = duration_ms + excluded.duration_ms,
    cost = cost + excluded.cost,
    compensated = compensated + excluded.compensated,
    provider_cost = provider_cost + excluded.provider_cost,
    charges_without_cost = charges_without_cost + excluded.charges_without_cost`
