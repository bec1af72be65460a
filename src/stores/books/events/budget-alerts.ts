import type { BudgetTold } from '../../../domain/limits/periods.ts'
import type { BudgetPeriod, Scope, Terms } from '../../../domain/limits/scope.ts'
import { budgetEvent, type BudgetNews, type ScopeName } from '../../../domain/webhooks/budget-alert.ts'
import { all, first, run, type Step } from '../steps.ts'
import type { Events } from './events.ts'

type ToldRow = {
  period: BudgetPeriod
  start_ms: bigint
  budget: bigint
  is_near: bigint
  is_reached: bigint
}

type NameRow = { id: string; name: string }

/**
 * The alerts of the budgets of scopes that were told. A row belongs to one period of one budget: another amount is
 * another budget.
 */
export class BudgetAlerts {
  readonly #events: Events

  constructor(events: Events) {
    this.#events = events
  }

  /** The alerts that were told of the periods of a scope's budgets. */
  *toldOf(
    accountId: number,
    { kind, id, model }: Scope,
    { budgets }: Terms,
  ): Step<(period: BudgetPeriod, startMs: number) => BudgetTold> {
    const rows = yield* all<ToldRow>(
      `SELECT period, start_ms, budget, is_near, is_reached FROM budget_alerts
        WHERE account_id = ? AND kind = ? AND scope_id = ? AND model = ?`,
      accountId,
      kind,
      id,
      model,
    )
    return (period, startMs) => {
      const row = rows.find(
        row => row.period === period && Number(row.start_ms) === startMs && row.budget === budgets[period],
      )
      return { nearlySpent: row?.is_near === 1n, reached: row?.is_reached === 1n }
    }
  }

  /** Records the event of a budget, and that it is told. */
  *tell(
    accountId: number,
    scope: Scope,
    { news, atMs }: { readonly news: BudgetNews; readonly atMs: number },
  ): Step<void> {
    const { kind, id, model } = scope
    const { startMs, told } = news.spend
    yield* run(
      `INSERT INTO budget_alerts (account_id, kind, scope_id, model, period, start_ms, budget, is_near, is_reached)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account_id, kind, scope_id, model, period) DO UPDATE SET start_ms = excluded.start_ms,
          budget = excluded.budget, is_near = excluded.is_near, is_reached = excluded.is_reached`,
      accountId,
      kind,
      id,
      model,
      news.period,
      startMs,
      news.allowed,
      told.nearlySpent ? 1 : 0,
      told.reached ? 1 : 0,
    )
    yield* this.#events.emit(budgetEvent(accountId, yield* nameOfScope(scope), { news, atMs }))
  }
}

/** A scope as its account knows it. */
export function* nameOfScope({ kind, id, model }: Scope): Step<ScopeName> {
  const ofModel = model === '' ? {} : { model }
  switch (kind) {
    case 'account':
    case 'account_model':
      return { kind, ...ofModel }
    case 'project': {
      const project = yield* first<NameRow>('SELECT public_id AS id, name FROM projects WHERE id = ?', id)
      return { kind, ...(project && { project }) }
    }
    case 'key':
    case 'key_model': {
      const key = yield* first<NameRow>('SELECT public_id AS id, name FROM api_keys WHERE id = ?', id)
      return { kind, ...(key && { key }), ...ofModel }
    }
  }
}
