import { tariffsTable } from '../../books/rows/money-tables.ts'
import { END_OF_WORK, first, insert, type StepRunner, type Step } from '../../books/steps.ts'
import { contentOfTariff, type Tariff } from '../../books/rows/tariff-rows.ts'

/** The row of a tariff. There is one row for each different set of prices. */
export function* tariffRow(content: string): Step<bigint> {
  const found = yield* first<{ id: bigint }>(WITH_CONTENT, content)
  if (found !== undefined) return found.id
  const inserted = yield* insert(tariffsTable, { content })
  if (inserted !== null) return inserted
  // Another charge or node wrote it first.
  const other = yield* first<{ id: bigint }>(WITH_CONTENT, content)
  if (other === undefined) throw new Error('The row id of the tariff is in use.')
  return other.id
}

const WITH_CONTENT = 'SELECT id FROM tariffs WHERE content = ?'

/** The tariffs that charges of a node were priced with. */
export class Tariffs {
  readonly #stepRunner: Pick<StepRunner, 'write'>
  /** By identity: the catalog is frozen, so all charges of a model at a revision come with the same object. */
  #ids = new WeakMap<Tariff, Promise<bigint>>()

  constructor(stepRunner: Pick<StepRunner, 'write'>) {
    this.#stepRunner = stepRunner
  }

  /** The row of a tariff. It is written before the batch of its first charge. */
  idOf(tariff: Tariff): Promise<bigint> {
    const ids = this.#ids
    const known = ids.get(tariff)
    if (known !== undefined) return known
    const id = this.#stepRunner.write('books', () => tariffRow(contentOfTariff(tariff)), END_OF_WORK)
    ids.set(tariff, id)
    id.catch(() => ids.delete(tariff))
    return id
  }

  /** Looks all rows up again. A failover may have lost one that another node wrote. */
  forget(): void {
    this.#ids = new WeakMap()
  }
}
