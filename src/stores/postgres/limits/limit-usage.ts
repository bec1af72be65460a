import { currentSpend, NOTHING_TOLD } from '../../../domain/limits/periods.ts'
import { budgetPeriods, type Scope, type Terms } from '../../../domain/limits/scope.ts'
import { usageUnder, type ScopeUsage } from '../../../domain/limits/scope-usage.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { scopeTerms, type LimitUsage } from '../../books/access/limit-changes.ts'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { columnsOfScope, isOf, type LiveScope, type ScopedDemand } from '../../books/limits/account-limits.ts'
import { all, atOnce, first, run, type Step } from '../../books/steps.ts'
import { dayOf } from '../../books/usage/usage-days.ts'
import { scopeFrom } from './limit-states.ts'

/**
 * The usage under the limits of accounts, as steps change it. `nowMs` replaces the clock of the database, for tests.
 */
export function limitUsage(nowMs: () => number | null): LimitUsage {
  return {
    // The upgrade that adds up earlier charges belongs to SQLite.
    isComplete: () => atOnce(() => true),
    recount: accountId => recount(accountId, nowMs()),
  }
}

/** The scopes of an account that have limits. */
export function* scopesOfAccount(accountId: number): Step<readonly LiveScope[]> {
  const rows = yield* all<{ state: string }>(
    'SELECT limit_state_v1(limits) AS state FROM limits WHERE account_id = ?',
    accountId,
  )
  return rows.map(({ state }) => scopeFrom(state))
}

/** Counts open requests and jobs, and the spend of the current periods, for new terms. Buckets stay. */
function* recount(accountId: number, givenMs: number | null): Step<void> {
  const clock = yield* first<{ now_ms: bigint }>('SELECT now_ms(?) AS now_ms', givenMs)
  const nowMs = Number(clock?.now_ms)
  const before = yield* scopesOfAccount(accountId)
  const open = yield* openDemands(accountId)
  for (const { scope, terms } of yield* scopeTerms(accountId)) {
    const counted = before.find(live => isSame(live.scope, scope))?.usage
    const passing = open.filter(({ demand, projectId }) => isOf(scope, demand, () => projectId))
    const sums = yield* sumsOfPeriods(accountId, { scope, terms, counted, nowMs })
    const facts = {
      open: passing.map(({ demand }) => demand),
      spentSince: (startMs: number) => sums.get(startMs) ?? ZERO,
      // News are compared with earlier ones when they are told.
      told: () => NOTHING_TOLD,
      nowMs,
    }
    yield* writeUsage(accountId, scope, columnsOf(terms, usageUnder(terms, facts, counted)))
  }
  yield* run(
    `UPDATE balances SET limit_kinds =
      (SELECT coalesce(bit_or(limit_bit_v1(kind)), 0) FROM limits WHERE limits.account_id = balances.account_id)
      WHERE account_id = ?`,
    accountId,
  )
}

/** The spend of a scope since the starts of its current periods, by the start. */
function* sumsOfPeriods(
  accountId: number,
  of: {
    readonly scope: Scope
    readonly terms: Terms
    readonly counted: ScopeUsage | undefined
    readonly nowMs: number
  },
): Step<ReadonlyMap<number, NanoUsd>> {
  const { scope, terms, counted, nowMs } = of
  const sums = new Map<number, NanoUsd>()
  for (const period of budgetPeriods) {
    const { startMs } = currentSpend(counted?.spent[period], period, nowMs)
    if (terms.budgets[period] !== undefined && !sums.has(startMs))
      sums.set(startMs, yield* spentSince(accountId, scope, startMs))
  }
  return sums
}

/** The spend of a scope since the start of a day. Charges that were credited back do not count. */
export function* spentSince(accountId: number, scope: Scope, startMs: number): Step<NanoUsd> {
  const { apiKeyId, projectId, model } = columnsOfScope(scope)
  // Day by day, because the table begins with the day: each is one short read of an index.
  const row = yield* first<{ spent: bigint }>(
    `SELECT CAST(coalesce(sum(cost - compensated), 0) AS bigint) AS spent
      FROM generate_series(
          greatest(?::bigint, (SELECT min(day) FROM usage_days)), (SELECT max(day) FROM usage_days)
        ) AS days (of_day) JOIN usage_days ON day = of_day AND account_id = ?
      WHERE (?::bigint IS NULL OR api_key_id = ?) AND (?::text IS NULL OR model = ?)
        AND (?::bigint IS NULL OR api_key_id IN (SELECT id FROM api_keys WHERE project_id = ?))`,
    dayOf(startMs),
    accountId,
    apiKeyId,
    apiKeyId,
    model,
    model,
    projectId,
    projectId,
  )
  return nanoUsd(row?.spent ?? 0n)
}

export type OpenDemand = {
  readonly accountId: number
  readonly demand: ScopedDemand
  readonly projectId: number | undefined
}

type OpenDemandRow = {
  account_id: bigint
  kind: ScopedDemand['kind']
  api_key_id: bigint
  project_id: bigint | null
  model: string
  tokens: bigint
  amount: bigint
}

/**
 * The demands of the open requests and jobs of an account, or of all. Reads all text holds: limits are seldom changed.
 */
export function* openDemands(accountId: number | null): Step<readonly OpenDemand[]> {
  const rows = yield* all<OpenDemandRow>(
    `SELECT open.*, project_id FROM (
        SELECT 'text' AS kind, account_id, api_key_id, model, tokens, worst_case AS amount FROM text_holds
          WHERE (?::bigint IS NULL OR account_id = ?) AND expired_at_ms IS NULL AND api_key_id IS NOT NULL
        UNION ALL
        -- A job has the id of its hold.
        SELECT 'media', holds.account_id, jobs.api_key_id, jobs.model, 0, holds.amount FROM holds
          JOIN jobs ON jobs.id_key = holds.id_key AND jobs.id_tail = holds.id_tail
          WHERE (?::bigint IS NULL OR holds.account_id = ?) AND holds.state = 'open'
      ) AS open LEFT JOIN api_keys ON api_keys.id = open.api_key_id`,
    accountId,
    accountId,
    accountId,
    accountId,
  )
  return rows.map(
    ({ account_id, kind, api_key_id: apiKeyId, project_id: projectId, model, tokens, amount }) => ({
      accountId: Number(account_id),
      demand: { kind, apiKeyId: Number(apiKeyId), model, tokens: Number(tokens), amount: nanoUsd(amount) },
      projectId: projectId === null ? undefined : Number(projectId),
    }),
  )
}

function writeUsage(accountId: number, { kind, id, model }: Scope, columns: Record<string, SqlValue>) {
  const changes = Object.keys(columns).map(name => `${name} = ?`)
  return run(
    `UPDATE limits SET ${changes.join(', ')} WHERE account_id = ? AND kind = ? AND scope_id = ? AND model = ?`,
    ...Object.values(columns),
    accountId,
    kind,
    id,
    model,
  )
}

/** The columns that have the terms as numbers, and the usage. */
function columnsOf(terms: Terms, { requests, tokens, running, reserved, spent }: ScopeUsage) {
  const { limits, budgets } = terms
  const columns: Record<string, SqlValue> = {
    requests_per_minute: limits.requests_per_minute ?? null,
    tokens_per_minute: limits.tokens_per_minute ?? null,
    concurrent_requests: limits.concurrent_requests ?? null,
    request_parts: requests?.parts ?? null,
    requests_at_ms: requests?.atMs ?? null,
    token_parts: tokens?.parts ?? null,
    tokens_at_ms: tokens?.atMs ?? null,
    running,
    reserved_text: reserved.text,
    reserved_media: reserved.media,
    total_spent: spent.total?.spent ?? null,
  }
  for (const period of budgetPeriods) columns[`${period}_budget`] = budgets[period] ?? null
  for (const period of ['day', 'week', 'month'] as const) {
    columns[`${period}_start_ms`] = spent[period]?.startMs ?? null
    columns[`${period}_end_ms`] = spent[period]?.endMs ?? null
    columns[`${period}_spent`] = spent[period]?.spent ?? null
    columns[`${period}_spent_before`] = spent[period]?.spentBefore ?? null
  }
  return columns
}

function isSame(one: Scope, other: Scope): boolean {
  return one.kind === other.kind && one.id === other.id && one.model === other.model
}
