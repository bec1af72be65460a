import type { Database, Statement } from 'bun:sqlite'
import type { BudgetTold } from '../../../domain/limits/periods.ts'
import type { BudgetPeriod, Scope, ScopeKind, Terms } from '../../../domain/limits/scope.ts'
import { budgetEvent, type BudgetNews, type ScopeName } from '../../../domain/webhooks/budget-alert.ts'
import type { WebhookEvents } from './webhook-events.ts'

/**
 * What was told of the budgets of scopes. A row belongs to one period of one budget: another amount is another budget.
 */
export class BudgetAlerts {
  readonly #events: WebhookEvents
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: { readonly database: Database; readonly webhookEvents: WebhookEvents }) {
    this.#events = parts.webhookEvents
    this.#sql = statements(parts.database)
  }

  /** What was told of the periods of a scope's budgets. */
  toldOf(
    accountId: number,
    { kind, id, model }: Scope,
    { budgets }: Terms,
  ): (period: BudgetPeriod, startMs: number) => BudgetTold {
    const rows = this.#sql.select.all(accountId, kind, id, model)
    return (period, startMs) => {
      const row = rows.find(
        row => row.period === period && Number(row.start_ms) === startMs && row.budget === budgets[period],
      )
      return { nearlySpent: row?.is_near === 1n, reached: row?.is_reached === 1n }
    }
  }

  /** Inside a step: records the event of a budget, and that it is told. */
  tell(
    accountId: number,
    scope: Scope,
    { news, atMs }: { readonly news: BudgetNews; readonly atMs: number },
  ) {
    const { kind, id, model } = scope
    const { startMs, told } = news.spend
    this.#sql.write.run(
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
    this.#events.emit(budgetEvent(accountId, this.#nameOf(scope), { news, atMs }))
  }

  #nameOf({ kind, id, model }: Scope): ScopeName {
    const ofModel = model === '' ? {} : { model }
    switch (kind) {
      case 'account':
      case 'account_model':
        return { kind, ...ofModel }
      case 'project': {
        const project = this.#sql.project.get(id)
        return { kind, ...(project && { project }) }
      }
      case 'key':
      case 'key_model': {
        const key = this.#sql.key.get(id)
        return { kind, ...(key && { key }), ...ofModel }
      }
    }
  }
}

type ToldRow = {
  period: BudgetPeriod
  start_ms: bigint
  budget: bigint
  is_near: bigint
  is_reached: bigint
}

type NameRow = { id: string; name: string }

function statements(database: Database) {
  return {
    select: database.prepare<ToldRow, [number, ScopeKind, number, string]>(
      `SELECT period, start_ms, budget, is_near, is_reached FROM budget_alerts
        WHERE account_id = ? AND kind = ? AND scope_id = ? AND model = ?`,
    ),
    write: database.prepare(
      `INSERT OR REPLACE INTO budget_alerts
        (account_id, kind, scope_id, model, period, start_ms, budget, is_near, is_reached)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    project: database.prepare<NameRow, [number]>('SELECT public_id AS id, name FROM projects WHERE id = ?'),
    key: database.prepare<NameRow, [number]>('SELECT public_id AS id, name FROM api_keys WHERE id = ?'),
  } satisfies Record<string, Statement>
}
