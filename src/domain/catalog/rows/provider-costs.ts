import { formatUsd } from '../../money.ts'
import { costUnits, type CostUnit, type Provider } from '../provider.ts'
import { oneOf, text } from './fields.ts'
import { readPrice } from './pricing-row.ts'
import { headerName } from './provider-headers.ts'
import { definedOnly, fieldOf, reportField, type Row } from './row.ts'

type ProviderCosts = Pick<
  Provider,
  'costHeader' | 'costField' | 'costUnit' | 'usageStyle' | 'billsRefused' | 'creditUsd'
>

/** The fields of text providers. Only media providers have `credit_usd`. */
export const costFields = ['cost_header', 'cost_field', 'cost_unit', 'usage_style', 'bills_refused'] as const

/** A member of the usage. */
export const costFieldPath = {
  pattern: /^usage(?:\.[A-Za-z0-9_-]{1,64}){1,4}$/,
  remedy: 'write the path of a member of the usage, such as usage.estimated_cost',
}

/** How the provider reports its usage and its cost, and what it bills. */
export function readCosts(row: Row): ProviderCosts {
  return definedOnly({
    costHeader: text(row, 'cost_header', headerName)?.toLowerCase(),
    costField: text(row, 'cost_field', costFieldPath),
    costUnit: readCostUnit(row),
    usageStyle: oneOf(row, 'usage_style', ['gemini']),
    billsRefused: oneOf(row, 'bills_refused', ['content_filter']),
    creditUsd: readPrice(row, 'credit_usd'),
  })
}

/** The fields of a row, for `definedOnly`. */
export function writeCosts(provider: ProviderCosts): Record<string, unknown> {
  return {
    cost_header: provider.costHeader,
    cost_field: provider.costField,
    cost_unit: provider.costUnit,
    usage_style: provider.usageStyle,
    bills_refused: provider.billsRefused,
    credit_usd: provider.creditUsd === undefined ? undefined : formatUsd(provider.creditUsd),
  }
}

/** The `cost_unit` of a row. Undefined for dollars. */
function readCostUnit(row: Row): CostUnit | undefined {
  const unit = oneOf(row, 'cost_unit', Object.keys(costUnits) as CostUnit[])
  const isUsed = fieldOf(row, 'cost_field') !== undefined || fieldOf(row, 'cost_header') !== undefined
  if (unit !== undefined && !isUsed) {
    const remedy = 'add the field or header with the cost, or leave cost_unit out'
    reportField(row, 'cost_unit', { message: 'is only used with cost_field or cost_header', remedy })
  }
  return unit === 'usd' ? undefined : unit
}
