import { admit } from '../../../domain/limits/admission.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { ReadOutcome } from '../../../gateway/ports/ledger/limits.ts'
import { ZERO, type NanoUsd } from '../../../domain/money.ts'
import { AccountLimits, outcomeOf, type ScopedDemand, UNLIMITED } from '../../books/limits/account-limits.ts'
import { first, run, type Step } from '../../books/steps.ts'
import { scopesOfAccount } from './limit-usage.ts'

/**
 * The limits that steps take and give back, such as those of jobs. Each call is inside a step that has locked the books
 * of the account. `nowMs` replaces the clock of the database, for tests.
 */
export class StepLimits {
  readonly #nowMs: () => number | null

  constructor(nowMs: () => number | null) {
    this.#nowMs = nowMs
  }

  /**
   * Takes a demand from all of its scopes, or names the first that refuses. Takes nothing if the balance does not cover
   * the demand. `free` is what no hold has of the balance.
   */
  *take(
    accountId: number,
    demand: ScopedDemand,
    { free, isCovered }: { readonly free: NanoUsd; readonly isCovered: boolean },
  ): Step<ReadOutcome> {
    const all = yield* scopesOfAccount(accountId)
    if (all.length === 0) return UNLIMITED
    const found = yield* first<{ now_ms: bigint; project_id: bigint | null }>(
      'SELECT now_ms(?) AS now_ms, (SELECT project_id FROM api_keys WHERE id = ?) AS project_id',
      this.#nowMs(),
      demand.apiKeyId,
    )
    const nowMs = Number(found?.now_ms)
    const projectId = found?.project_id ?? undefined
    const limits = AccountLimits.of(all, () => (projectId === undefined ? undefined : Number(projectId)))
    const scopes = limits.scopesOf(demand)
    if (scopes.length === 0) return UNLIMITED
    const decision = admit(scopes, demand, nowMs, free)
    if (decision.outcome === 'admitted' && !isCovered) return UNLIMITED
    for (const [index, live] of scopes.entries()) live.usage = decision.usages[index] ?? live.usage
    const { tokens, amount } = demand
    if (decision.outcome === 'refused')
      yield* run(
        'SELECT refuse_use_v1(ROW(?::bigint, ?::bigint, ?, 1, 1, 0, 0, 0, 0, NULL)::usage_change_v1, ?)',
        accountId,
        demand.apiKeyId,
        demand.model,
        nowMs,
      )
    else yield* this.#change(accountId, demand, { requests: 1, running: 1, tokens, amount })
    return outcomeOf(scopes, decision, nowMs)
  }

  /** Gives back what a job took, however it ended. */
  giveBack(accountId: number, demand: ScopedDemand): Step<void> {
    const amount = ZERO - demand.amount
    return this.#change(accountId, demand, { requests: 0, running: -1, tokens: -demand.tokens, amount })
  }

  /** Counts the cost of a charge in the current periods, and records what is to be told of budgets. */
  *spend(accountId: number, { apiKeyId, model, cost, atMs }: Charge): Step<void> {
    if (cost === ZERO) return
    yield* run(
      `SELECT change_usage_v1(
        ARRAY[ROW(?::bigint, ?::bigint, ?, 0, 0, NULL, 0, 0, ?::bigint, ?::bigint)::usage_change_v1], periods_v1(now_ms(?)))`,
      accountId,
      apiKeyId,
      model,
      cost,
      atMs,
      this.#nowMs(),
    )
  }

  #change(
    accountId: number,
    { kind, apiKeyId, model }: ScopedDemand,
    change: {
      readonly requests: number
      readonly running: number
      readonly tokens: number
      readonly amount: bigint
    },
  ): Step<void> {
    const [text, media] = kind === 'text' ? [change.amount, 0] : [0, change.amount]
    return run(
      `SELECT change_usage_v1(
        ARRAY[ROW(?::bigint, ?::bigint, ?, ?::bigint, ?::bigint, ?::bigint, ?::bigint, ?::bigint, 0, NULL)::usage_change_v1],
        periods_v1(now_ms(?)))`,
      accountId,
      apiKeyId,
      model,
      change.requests,
      change.running,
      change.tokens,
      text,
      media,
      this.#nowMs(),
    )
  }
}
