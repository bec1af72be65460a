import type { Database, Statement } from 'bun:sqlite'
import { nanoUsd } from '../../domain/money.ts'
import type { DayUsage } from '../../gateway/ports/ledger-reports.ts'
import { notAddedUp } from '../books/access/limit-changes.ts'
import { areCostsAdded, isUsageRebuilt } from './usage-days.ts'

type DayRow = {
  account_id: bigint
  api_key_id: bigint
  model: string
  provider: string
  charges: bigint
  cost: bigint
  compensated: bigint
  provider_cost: bigint
  charges_without_cost: bigint
}

/** Reads the sums of the charges of a day, with what their providers bill. */
export class DayUsageReader {
  readonly #database: Database
  readonly #select: Statement<DayRow, [number]>

  constructor(database: Database) {
    this.#database = database
    this.#select = database.prepare(
      `SELECT account_id, api_key_id, model, provider, charges, cost, compensated, provider_cost, charges_without_cost
        FROM usage_days WHERE day = ?`,
    )
  }

  read(day: number): readonly DayUsage[] {
    if (!isUsageRebuilt(this.#database) || !areCostsAdded(this.#database))
      throw notAddedUp('The costs of charges are not known yet')
    return this.#select.all(day).map(row => ({
      accountId: Number(row.account_id),
      apiKeyId: Number(row.api_key_id),
      model: row.model,
      provider: row.provider,
      charges: Number(row.charges),
      cost: nanoUsd(row.cost),
      compensated: nanoUsd(row.compensated),
      providerCost: nanoUsd(row.provider_cost),
      chargesWithoutCost: Number(row.charges_without_cost),
    }))
  }
}
