import { Counter, Registry } from 'prom-client'
import { addUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { UnsoldWork } from '../gateway/upstreams/observe-unsold.ts'
import { dollars } from './dollars.ts'

type Upstream = { readonly model: string; readonly provider: string }

/**
 * What customers paid and what it cost, since the start. By model and provider only, because the catalog bounds their
 * number: accounts and keys would add series without a limit.
 */
export type MarginMetrics = {
  readonly charged: (
    charge: Upstream & { readonly cost: NanoUsd; readonly providerCost: NanoUsd | null },
  ) => void
  readonly unsold: (work: UnsoldWork) => void
  /** The Prometheus text format. */
  readonly text: () => Promise<string>
}

export function openMarginMetrics(): MarginMetrics {
  const tallies = new Map<string, Map<string, Tally>>()
  const registry = new Registry()
  registerTallies(tallies, registry)
  return {
    charged({ model, provider, cost, providerCost }) {
      const tally = tallyOf(tallies, model, provider)
      tally.revenue = addUsd(tally.revenue, cost)
      if (providerCost === null) tally.chargesWithoutCost += 1
      else tally.providerCost = addUsd(tally.providerCost, providerCost)
    },
    unsold({ model, provider, providerCost }) {
      const tally = tallyOf(tallies, model, provider)
      tally.losses = addUsd(tally.losses, providerCost)
    },
    text: () => registry.metrics(),
  }
}

/** The sums of one model at one provider. In plain numbers until they are read: each charge is counted. */
type Tally = Upstream & {
  revenue: NanoUsd
  providerCost: NanoUsd
  losses: NanoUsd
  chargesWithoutCost: number
}

function registerTallies(tallies: ReadonlyMap<string, ReadonlyMap<string, Tally>>, registry: Registry): void {
  const register = (name: string, help: string, valueOf: (tally: Tally) => number) =>
    new Counter({
      name,
      help,
      labelNames: ['model', 'provider'],
      registers: [registry],
      collect() {
        this.reset()
        for (const byProvider of tallies.values())
          for (const tally of byProvider.values())
            this.inc({ model: tally.model, provider: tally.provider }, valueOf(tally))
      },
    })
  register(
    'tollgate_revenue_usd_total',
    'Dollars charged, by model and provider. Refunds are not subtracted.',
    ({ revenue }) => dollars(revenue),
  )
  register(
    'tollgate_provider_cost_usd_total',
    'Dollars that providers bill for charged requests and jobs, as far as they are known.',
    ({ providerCost }) => dollars(providerCost),
  )
  register(
    'tollgate_unsold_cost_usd_total',
    'Dollars that providers bill for work that no customer paid for, as far as they are known.',
    ({ losses }) => dollars(losses),
  )
  register(
    'tollgate_charges_without_cost_total',
    'Charges whose cost is not known.',
    ({ chargesWithoutCost }) => chargesWithoutCost,
  )
}

function tallyOf(tallies: Map<string, Map<string, Tally>>, model: string, provider: string): Tally {
  let byProvider = tallies.get(model)
  if (byProvider === undefined) tallies.set(model, (byProvider = new Map<string, Tally>()))
  let tally = byProvider.get(provider)
  if (tally === undefined) {
    tally = { model, provider, revenue: ZERO, providerCost: ZERO, losses: ZERO, chargesWithoutCost: 0 }
    byProvider.set(provider, tally)
  }
  return tally
}
