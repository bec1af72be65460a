import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { UsageLine } from '../../ports/ledger/ledger-reports.ts'

/** So many answers in a row without a cost are not an accident. */
export const ANSWERS_MAX = 20
/** Only the newest charges are read, in pages, so that the check ends within seconds. */
const CHARGES_READ_MAX = 10_000
const PAGE_CHARGES = 500

/**
 * The models that charge their provider's own cost, and whose last 20 answers had none. All of these answers were free.
 * It reads the stored charges, so it also works on the data folder of a stopped server.
 */
export async function modelsWithoutCosts(
  catalog: Catalog,
  ledger: Pick<Ledger, 'usage'>,
): Promise<readonly string[]> {
  const silent: string[] = []
  /** The answers without a cost since the last one that had one, by model. */
  const answers = new Map<string, number>()
  for (const { id, enabled, pricing } of catalog.models.values())
    if (enabled && 'kind' in pricing && pricing.kind === 'upstream_cost') answers.set(id, 0)
  let before: string | undefined
  for (let read = 0; answers.size > 0 && read < CHARGES_READ_MAX; read += PAGE_CHARGES) {
    const page = { limit: PAGE_CHARGES, ...(before === undefined ? {} : { before }) }
    const lines = await ledger.usage(undefined, page)
    for (const line of lines) {
      const count = answers.get(line.model)
      if (count === undefined || !isByCost(line)) continue
      if (hasCost(line)) answers.delete(line.model)
      else if (count + 1 < ANSWERS_MAX) answers.set(line.model, count + 1)
      else {
        silent.push(line.model)
        answers.delete(line.model)
      }
    }
    before = lines.at(-1)?.cursor
    if (lines.length < PAGE_CHARGES) break
  }
  return silent
}

/** Whether a charge follows from the provider's own cost, not from a tariff or from an estimate. */
function isByCost(line: UsageLine): boolean {
  if (line.kind !== 'text' || line.tariff !== null) return false
  return line.cost === 0n || line.provenance === 'reported'
}

/**
 * Whether the provider reported a cost: the charge is not zero then, unless the cost is. A recorded cost that is not
 * zero beside a charge of zero is of the row's own prices.
 */
function hasCost({ providerCost, cost }: UsageLine): boolean {
  return cost > 0n || providerCost === 0n
}
