import type { LimitRefusal, StrictestRates } from '../../../domain/limits/admission.ts'
import type { LimitTerms } from '../../../domain/limits/limits-row.ts'
import type { BudgetPeriod } from '../../../domain/limits/scope.ts'
import type { NanoUsd } from '../../../domain/money.ts'

/** An account, one of its projects, or one of its keys. */
export type LimitOwner = {
  readonly accountId: number
  /** Undefined for the account itself, and for a project. */
  readonly apiKeyId: number | undefined
  /** Only of a project. */
  readonly projectId?: number
}

/** The use of a budget in its current period. */
export type BudgetStatus = {
  readonly period: BudgetPeriod
  readonly allowed: NanoUsd
  readonly spent: NanoUsd
  /** The worst cases of the requests and jobs that are open. */
  readonly reserved: NanoUsd
  /** Below zero if a charge exceeded its worst case. */
  readonly remaining: NanoUsd
  /** Undefined for `total`. */
  readonly resetsAtMs: number | undefined
}

/**
 * The limits and budgets of accounts, projects and keys, and of accounts and keys with a model. Patches change them:
 * `Accounts.updateAccount`, `Projects.update` and `ApiKeys.update`. Holds take them: `Ledger.placeHold` and
 * `Jobs.create`.
 */
export interface Limits {
  /** What an owner may use, without the limits of the scopes around it. */
  of(owner: LimitOwner): Promise<LimitTerms>

  /** The budgets of an owner, without those of its models. */
  budgets(owner: LimitOwner): Promise<readonly BudgetStatus[]>

  /** The budgets that an owner has for single models, by the model. A model without a budget is left out. */
  modelBudgets(owner: LimitOwner): Promise<ReadonlyMap<string, readonly BudgetStatus[]>>

  /**
   * The refusal of an earlier request that holds for every request of the key until its wait is over; undefined if
   * there is none. It takes nothing and answers at once, so that a flood of refused requests costs little.
   */
  recentRefusal(of: { readonly accountId: number; readonly apiKeyId: number }): Limited | undefined

  /** Counts a read or an estimate, which holds nothing, as a request of the key. */
  countRead(of: { readonly accountId: number; readonly apiKeyId: number }): Promise<ReadOutcome>
}

export type ReadOutcome = { readonly outcome: 'taken'; readonly rates: StrictestRates } | Limited

/** A limit or a budget refuses a request, which took nothing. */
export type Limited = {
  readonly outcome: 'limited'
  readonly refusal: LimitRefusal
  /** What is left of the strictest limits. */
  readonly rates: StrictestRates
}
