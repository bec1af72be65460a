import { tariffsTable } from '../../books/rows/money-tables.ts'
import { END_OF_WORK } from '../../books/steps.ts'
import { contentOfTariff, type Tariff } from '../../books/rows/tariff-rows.ts'
import type { Batches } from '../lanes/batches.ts'

/** The table of the tariffs that charges were priced with: one row for each different set of prices. */
export class Tariffs {
  readonly #batches: Batches
  /** By identity: the catalog is frozen, so all charges of a model at a revision come with the same object. */
  readonly #ids = new WeakMap<Tariff, Promise<bigint>>()

  constructor(batches: Batches) {
    this.#batches = batches
  }

  /** The row of a tariff. It is written before the batch of its first charge. */
  idOf(tariff: Tariff): Promise<bigint> {
    const known = this.#ids.get(tariff)
    if (known !== undefined) return known
    const id = this.#write(contentOfTariff(tariff))
    this.#ids.set(tariff, id)
    id.catch(() => this.#ids.delete(tariff))
    return id
  }

  #write(content: string): Promise<bigint> {
    return this.#batches.run(async writes => {
      const inserted = await writes.insert(tariffsTable, { content })
      if (inserted !== null) return inserted
      // Another charge or node wrote it first.
      const [row] = await writes.sql<{ id: bigint }[]>`SELECT id FROM tariffs WHERE content = ${content}`
      if (row === undefined) throw new Error('The row id of the tariff is in use.')
      return row.id
    }, END_OF_WORK)
  }
}
