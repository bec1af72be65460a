import { nanoUsd } from '../../../domain/money.ts'
import type { DayUsage } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { notAddedUp } from '../access/limit-changes.ts'
import type { UsageSource } from '../access/project-usage.ts'
import { all, type Step } from '../steps.ts'

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

/**
 * The sums of the charges of a day, with what their providers bill. Throws `unavailable` while an upgrade adds up
 * earlier charges.
 */
export function* usageOfDay(source: UsageSource, day: number): Step<readonly DayUsage[]> {
  if (!(yield* source.isComplete())) throw notAddedUp('The costs of charges are not known yet')
  const rows = yield* all<DayRow>(
    `SELECT account_id, api_key_id, model, provider, charges, cost, compensated, provider_cost, charges_without_cost
      FROM usage_days WHERE day = ? ORDER BY account_id, api_key_id, model, provider`,
    day,
  )
  return rows.map(row => ({
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
