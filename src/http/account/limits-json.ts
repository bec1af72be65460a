import { encodeTerms, termsOfModel } from '../../domain/limits/limits-row.ts'
import { formatUsd } from '../../domain/money.ts'
import { instant } from '../../domain/time.ts'
import type { BudgetStatus, LimitOwner, Limits } from '../../gateway/ports/ledger/limits.ts'

/** The reads that the limits of an owner need. */
export type LimitReads = Pick<Limits, 'of' | 'budgets' | 'modelBudgets'>

/** What an account or a key may use and what it has used, as the admin API and its holder see it. */
export async function limitsOf(owner: LimitOwner, limits: LimitReads): Promise<object> {
  const [terms, budgets, modelBudgets] = await Promise.all([
    limits.of(owner),
    limits.budgets(owner),
    limits.modelBudgets(owner),
  ])
  const models = Object.keys(terms.perModel).toSorted()
  const perModel = models.map(model => {
    const ofModel = { ...encodeTerms(termsOfModel(terms, model)), ...usageJson(modelBudgets.get(model)) }
    return [model, ofModel] as const
  })
  return { ...encodeTerms(terms), per_model: Object.fromEntries(perModel), ...usageJson(budgets) }
}

/** Like `limitsOf`, for a project, which has no limits for single models. */
export async function termsOf(owner: LimitOwner, limits: Pick<Limits, 'of' | 'budgets'>): Promise<object> {
  const [terms, budgets] = await Promise.all([limits.of(owner), limits.budgets(owner)])
  return { ...encodeTerms(terms), ...usageJson(budgets) }
}

function usageJson(budgets: readonly BudgetStatus[] = []): object {
  return { budget_usage: Object.fromEntries(budgets.map(status => [status.period, budgetJson(status)])) }
}

function budgetJson({ spent, reserved, remaining, resetsAtMs }: BudgetStatus): object {
  return {
    spent_usd: formatUsd(spent),
    reserved_usd: formatUsd(reserved),
    remaining_usd: formatUsd(remaining),
    resets_at: resetsAtMs === undefined ? null : instant(resetsAtMs),
  }
}
