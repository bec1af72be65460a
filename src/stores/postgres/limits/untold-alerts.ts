import type { LimitRefusal } from '../../../domain/limits/admission.ts'
import { currentSpend } from '../../../domain/limits/periods.ts'
import type { BudgetPeriod, ScopeKind } from '../../../domain/limits/scope.ts'
import { nanoUsd } from '../../../domain/money.ts'
import { budgetEvent, budgetNews, type BudgetNews } from '../../../domain/webhooks/budget-alert.ts'
import { balanceAlertAfter, type NewEvent } from '../../../domain/webhooks/event.ts'
import { nameOfScope, type BudgetAlerts } from '../../books/events/budget-alerts.ts'
import { all, booksOf, first, type Step } from '../../books/steps.ts'
import { scopesOfAccount } from './limit-usage.ts'

/** The alerts of one step. */
const ALERTS_MAX = 100

type AlertRow = {
  id: bigint
  type: 'balance.low' | BudgetNews['type']
  account_id: bigint
  amount: bigint
  compared_with: bigint
  at_ms: bigint
}
type BudgetRow = AlertRow & {
  type: BudgetNews['type']
  kind: ScopeKind
  scope_id: bigint
  model: string
  period: BudgetPeriod
  start_ms: bigint
  end_ms: bigint | null
}

/**
 * Writes the events of alerts that batches recorded, each once: the alert goes in the same transaction. Nodes can do it
 * at once. Returns the number of alerts; there may be more if it is `ALERTS_MAX`.
 */
export function* tellAlerts(emit: (event: NewEvent) => Step<void>): Step<number> {
  const rows = yield* all<BudgetRow | (AlertRow & { type: 'balance.low' })>(
    `DELETE FROM untold_alerts WHERE id IN (
        SELECT id FROM untold_alerts ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED
      ) RETURNING *`,
    ALERTS_MAX,
  )
  for (const row of rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const event = row.type === 'balance.low' ? lowBalanceEvent(row) : yield* eventOfBudget(row)
    if (event !== undefined) yield* emit(event)
  }
  return rows.length
}

/**
 * Tells that a budget refused its first request of a period, which commits nothing itself. Repeating it tells nothing.
 * False if there was nothing to tell.
 */
export function* tellRefusal(
  { accountId, refusal }: { readonly accountId: number; readonly refusal: LimitRefusal },
  alerts: BudgetAlerts,
  givenMs: number | null,
): Step<boolean> {
  if (refusal.limit !== 'budget' || refusal.isReserved) return false
  const { scope, period } = refusal
  yield* booksOf(accountId)
  const clock = yield* first<{ now_ms: bigint }>('SELECT now_ms(?) AS now_ms', givenMs)
  const atMs = Number(clock?.now_ms)
  const live = (yield* scopesOfAccount(accountId)).find(
    of => of.scope.kind === scope.kind && of.scope.id === scope.id && of.scope.model === scope.model,
  )
  if (live === undefined) return false
  const spend = currentSpend(live.usage.spent[period], period, atMs)
  const told = (yield* alerts.toldOf(accountId, scope, live.terms))(period, spend.startMs)
  const usage = { ...live.usage, spent: { [period]: { ...spend, told } } }
  const terms = { limits: {}, budgets: { [period]: refusal.allowed } }
  const news = budgetNews({ terms, usage }, { atMs, refusal })
  for (const one of news) yield* alerts.tell(accountId, scope, { news: one, atMs })
  return news.length > 0
}

function lowBalanceEvent(row: AlertRow): NewEvent | undefined {
  const alert = { below: nanoUsd(row.compared_with), isLow: false }
  const balance = { accountId: Number(row.account_id), balance: nanoUsd(row.amount), atMs: Number(row.at_ms) }
  return balanceAlertAfter(alert, balance)?.event
}

function* eventOfBudget(row: BudgetRow): Step<NewEvent> {
  const spend = {
    startMs: Number(row.start_ms),
    endMs: row.end_ms === null ? Infinity : Number(row.end_ms),
    spent: nanoUsd(row.amount),
    spentBefore: nanoUsd(0n),
    told: { nearlySpent: true, reached: row.type === 'budget.reached' },
  }
  const { type, period, kind, scope_id: id, model } = row
  const news = { type, period, allowed: nanoUsd(row.compared_with), spend }
  return budgetEvent(Number(row.account_id), yield* nameOfScope({ kind, id: Number(id), model }), {
    news,
    atMs: Number(row.at_ms),
  })
}
