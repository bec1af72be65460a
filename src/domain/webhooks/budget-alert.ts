import type { LimitRefusal, ScopeState } from '../limits/admission.ts'
import { currentSpend, type PeriodSpend } from '../limits/periods.ts'
import { budgetPeriods, type BudgetPeriod, type ScopeKind } from '../limits/scope.ts'
import type { ScopeUsage } from '../limits/scope-usage.ts'
import { formatUsd, ZERO, type NanoUsd } from '../money.ts'
import type { NewEvent } from './event.ts'

/** A budget is nearly spent from this share on. */
const NEARLY_SPENT_PERCENT = 80n

/** What is told of the budget of a period. */
export type BudgetNews = {
  readonly type: 'budget.nearly_spent' | 'budget.reached'
  readonly period: BudgetPeriod
  readonly allowed: NanoUsd
  /** The sum of the period, which knows that this is told. */
  readonly spend: PeriodSpend
}

/**
 * What is to be told of the budgets of a scope after a charge, or after a refusal: each of both types once in a period.
 * A refusal that only lasts until running requests have ended is not told.
 */
export function budgetNews(
  { terms, usage }: Pick<ScopeState, 'terms' | 'usage'>,
  { atMs, refusal }: { readonly atMs: number; readonly refusal?: LimitRefusal },
): readonly BudgetNews[] {
  const refused = refusal?.limit === 'budget' && !refusal.isReserved ? refusal.period : undefined
  const news: BudgetNews[] = []
  for (const period of budgetPeriods) {
    const allowed = terms.budgets[period]
    if (allowed === undefined) continue
    const spend = currentSpend(usage.spent[period], period, atMs)
    const { spent, told } = spend
    const nearlySpent = told.nearlySpent || (spent > ZERO && spent * 100n >= allowed * NEARLY_SPENT_PERCENT)
    const reached = told.reached || refused === period || (spent > ZERO && spent >= allowed)
    if (nearlySpent && !told.nearlySpent) {
      const after = { ...spend, told: { ...told, nearlySpent } }
      news.push({ type: 'budget.nearly_spent', period, allowed, spend: after })
    }
    if (reached && !told.reached)
      news.push({
        type: 'budget.reached',
        period,
        allowed,
        spend: { ...spend, told: { nearlySpent, reached } },
      })
  }
  return news
}

/** The usage after something was told. */
export function withNews(usage: ScopeUsage, { period, spend }: BudgetNews): ScopeUsage {
  return { ...usage, spent: { ...usage.spent, [period]: spend } }
}

/** The owner of a scope as its account knows it. */
export type ScopeName = {
  readonly kind: ScopeKind
  /** Absent for a scope of the account or of a project. */
  readonly key?: NamedId
  /** Absent unless the scope is one of a project. */
  readonly project?: NamedId
  /** Absent for a scope of all models. */
  readonly model?: string
}

type NamedId = { readonly id: string; readonly name: string }

/** The event of a budget that is nearly spent, or reached. */
export function budgetEvent(
  accountId: number,
  { kind, key, project, model }: ScopeName,
  { news, atMs }: { readonly news: BudgetNews; readonly atMs: number },
): NewEvent {
  const { type, period, allowed, spend } = news
  const { spent, endMs } = spend
  return {
    type,
    accountId,
    data: {
      scope: kind,
      key: key ?? null,
      project: project ?? null,
      model: model ?? null,
      period,
      budget_usd: formatUsd(allowed),
      spent_usd: formatUsd(spent),
      resets_at: endMs === Infinity ? null : new Date(endMs).toISOString(),
    },
    atMs,
  }
}
