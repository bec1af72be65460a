import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'

const MS_PER_DAY = 86_400_000

type Sold = {
  readonly model: string
  readonly provider: string
  readonly price: NanoUsd
  readonly cost: NanoUsd
}

/**
 * The models whose charges since the start of yesterday (UTC) are less than what one of their providers bills for them,
 * with both amounts. A charge whose cost is not known counts with its price only, so a model is never named by mistake.
 * Models that are free on purpose are not named. Empty while an upgrade adds up earlier charges.
 */
export async function modelsBelowCost(
  catalog: Catalog,
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'usageOfDay'>; readonly clock: Clock },
): Promise<readonly string[]> {
  const today = Math.floor(clock.now() / MS_PER_DAY)
  const sums = new Map<string, Sold>()
  try {
    for (const day of [today - 1, today])
      for (const { model, provider, cost: price, providerCost } of await ledger.usageOfDay(day)) {
        const key = JSON.stringify([model, provider])
        const before = sums.get(key) ?? { price: ZERO, cost: ZERO }
        sums.set(key, {
          model,
          provider,
          price: addUsd(before.price, price),
          cost: addUsd(before.cost, providerCost),
        })
      }
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'unavailable') return []
    throw error
  }
  return [...sums.values()]
    .filter(({ model, price, cost }) => cost > price && !isFree(catalog, model))
    .toSorted((left, right) => (right.cost - right.price > left.cost - left.price ? 1 : -1))
    .map(
      ({ model, provider, price, cost }) =>
        `${model} at ${provider} (sold for ${formatUsd(price)} USD, cost ${formatUsd(cost)} USD)`,
    )
}

function isFree({ models }: Catalog, name: string): boolean {
  const pricing = models.get(name)?.pricing
  return pricing !== undefined && 'kind' in pricing && pricing.kind === 'free'
}
