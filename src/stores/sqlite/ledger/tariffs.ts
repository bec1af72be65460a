import type { Database, Statement } from 'bun:sqlite'
import { contentOfTariff, type Tariff } from '../../books/rows/tariff-rows.ts'
import type { Tables } from '../commits/hashed-table.ts'
import type { Transactions } from '../commits/transactions.ts'

/** The table of the tariffs that charges were priced with: one row for each different set of prices. */
export class Tariffs {
  readonly #table: Tables['tariffs']
  readonly #findId: Statement<{ id: bigint }, [string]>
  /** By identity: the catalog is frozen, so all charges of a model at a revision come with the same object. */
  #ids = new WeakMap<Tariff, bigint>()

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly tables: Tables
  }) {
    this.#table = parts.tables.tariffs
    this.#findId = parts.database.prepare('SELECT id FROM tariffs WHERE content = ?')
    parts.transactions.join({ afterRollback: () => (this.#ids = new WeakMap()) })
  }

  /** Inside a step: the row of a tariff, which is written if it is new. */
  idOf(tariff: Tariff): bigint {
    const known = this.#ids.get(tariff)
    if (known !== undefined) return known
    const content = contentOfTariff(tariff)
    const id = this.#findId.get(content)?.id ?? this.#table.insert({ content })
    if (id === null) throw new Error('The row id of the tariff is in use.')
    this.#ids.set(tariff, id)
    return id
  }
}
