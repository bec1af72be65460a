import {
  leftOf,
  strictestRates,
  type LimitDecision,
  type LimitRefusal,
} from '../../../domain/limits/admission.ts'
import { currentSpend } from '../../../domain/limits/periods.ts'
import { budgetPeriods, kindWithModel, type Scope, type Terms } from '../../../domain/limits/scope.ts'
import type { Demand, ScopeUsage } from '../../../domain/limits/scope-usage.ts'
import { addUsd } from '../../../domain/money.ts'
import type { HoldDemand } from '../../../gateway/ports/ledger/ledger.ts'
import type { BudgetStatus, Limited, LimitOwner, ReadOutcome } from '../../../gateway/ports/ledger/limits.ts'
import { ownerOf } from '../access/limit-changes.ts'

/** The part of a request in the limits of its scopes, with its key and model. */
export type ScopedDemand = Demand & { readonly apiKeyId: number; readonly model: string }

/** The part of a text request in the limits of its scopes. */
export function scopedDemand({ apiKeyId, model, tokens, amount }: HoldDemand): ScopedDemand {
  return { kind: 'text', apiKeyId, model, tokens, amount }
}

/** A scope that has limits, with its usage. */
export type LiveScope = {
  readonly scope: Scope
  readonly terms: Terms
  usage: ScopeUsage
  /** Its last refusal for too many requests, and until when all requests are refused. */
  refused: { readonly refusal: RequestsRefusal; readonly untilMs: number } | undefined
}

export type RequestsRefusal = Extract<LimitRefusal, { limit: 'requests_per_minute' }>

/** The project of a key; undefined if it has none. */
export type ProjectOf = (apiKeyId: number) => number | undefined

/** The scopes of one account that have limits. */
export class AccountLimits {
  readonly all: readonly LiveScope[]
  #account: LiveScope | undefined
  readonly #projects = new Map<number, LiveScope>()
  readonly #accountModels = new Map<string, LiveScope>()
  readonly #keys = new Map<number, LiveScope>()
  readonly #keyModels = new Map<number, Map<string, LiveScope>>()

  readonly #projectOf: ProjectOf

  private constructor(all: readonly LiveScope[], projectOf: ProjectOf) {
    this.all = all
    this.#projectOf = projectOf
  }

  static of(scopes: readonly LiveScope[], projectOf: ProjectOf): AccountLimits {
    const limits = new AccountLimits(scopes, projectOf)
    for (const live of scopes) limits.#add(live)
    return limits
  }

  /** The scopes that a request passes, in the order in which they are asked. */
  scopesOf({ apiKeyId, model }: Pick<ScopedDemand, 'apiKeyId' | 'model'>): LiveScope[] {
    const scopes: LiveScope[] = []
    const project = this.#projectScopeOf(apiKeyId)
    const accountModel = this.#accountModels.get(model)
    const key = this.#keys.get(apiKeyId)
    const keyModel = this.#keyModels.get(apiKeyId)?.get(model)
    if (this.#account !== undefined) scopes.push(this.#account)
    if (project !== undefined) scopes.push(project)
    if (accountModel !== undefined) scopes.push(accountModel)
    if (key !== undefined) scopes.push(key)
    if (keyModel !== undefined) scopes.push(keyModel)
    return scopes
  }

  find({ kind, id, model }: Scope): LiveScope | undefined {
    switch (kind) {
      case 'account':
        return this.#account
      case 'project':
        return this.#projects.get(id)
      case 'account_model':
        return this.#accountModels.get(model)
      case 'key':
        return this.#keys.get(id)
      case 'key_model':
        return this.#keyModels.get(id)?.get(model)
    }
  }

  /** Looks for the project of a key only if a project of the account has limits. */
  #projectScopeOf(apiKeyId: number): LiveScope | undefined {
    if (this.#projects.size === 0) return undefined
    const projectId = this.#projectOf(apiKeyId)
    return projectId === undefined ? undefined : this.#projects.get(projectId)
  }

  #add(live: LiveScope): void {
    const { kind, id, model } = live.scope
    switch (kind) {
      case 'account':
        this.#account = live
        break
      case 'project':
        this.#projects.set(id, live)
        break
      case 'account_model':
        this.#accountModels.set(model, live)
        break
      case 'key':
        this.#keys.set(id, live)
        break
      case 'key_model': {
        const models = this.#keyModels.get(id) ?? new Map<string, LiveScope>()
        this.#keyModels.set(id, models.set(model, live))
        break
      }
    }
  }
}

/** The outcome of a request that nothing limits. */
export const UNLIMITED: ReadOutcome = { outcome: 'taken', rates: {} }

/** The outcome of a decision, after its usages have replaced those of the scopes. */
export function outcomeOf(scopes: readonly LiveScope[], decision: LimitDecision, nowMs: number): ReadOutcome {
  const rates = strictestRates(scopes, nowMs)
  if (decision.outcome === 'admitted') return { outcome: 'taken', rates }
  const { refusal } = decision
  if (refusal.limit === 'requests_per_minute') {
    const live = scopes.find(({ scope }) => scope === refusal.scope)
    if (live !== undefined) live.refused = { refusal, untilMs: nowMs + refusal.waitMs }
  }
  return { outcome: 'limited', refusal, rates }
}

/** The refusal of an earlier request that holds for all requests of its scope until its wait is over. */
export function recentRefusalOf(scopes: readonly LiveScope[], nowMs: number): Limited | undefined {
  for (const { refused } of scopes) {
    if (refused === undefined) continue
    const waitMs = refused.untilMs - nowMs
    // A longer wait than it named means that the clock was set back.
    if (waitMs > 0 && waitMs <= refused.refusal.waitMs) {
      const refusal = { ...refused.refusal, waitMs }
      return { outcome: 'limited', refusal, rates: strictestRates(scopes, nowMs) }
    }
  }
  return undefined
}

/** The budgets of a scope. */
export function budgetsOfScope(
  live: Pick<LiveScope, 'terms' | 'usage'>,
  nowMs: number,
): readonly BudgetStatus[] {
  const reserved = addUsd(live.usage.reserved.text, live.usage.reserved.media)
  return budgetPeriods.flatMap(period => {
    const allowed = live.terms.budgets[period]
    const remaining = leftOf(live, period, nowMs)
    if (allowed === undefined || remaining === undefined) return []
    const { spent, endMs } = currentSpend(live.usage.spent[period], period, nowMs)
    const resetsAtMs = endMs === Infinity ? undefined : endMs
    return [{ period, allowed, spent, reserved, remaining, resetsAtMs }]
  })
}

/** The budgets that an owner has for single models, by the model. */
export function modelBudgetsOf(
  scopes: readonly LiveScope[],
  owner: LimitOwner,
  nowMs: number,
): ReadonlyMap<string, readonly BudgetStatus[]> {
  const { kind, id } = ownerOf(owner)
  const ofModels = scopes.filter(({ scope }) => scope.kind === kindWithModel[kind] && scope.id === id)
  const budgets = ofModels.map(live => [live.scope.model, budgetsOfScope(live, nowMs)] as const)
  return new Map(budgets.filter(([, statuses]) => statuses.length > 0))
}

/** Whether a request passes a scope. */
export function isOf({ kind, id, model }: Scope, demand: ScopedDemand, projectOf: ProjectOf): boolean {
  switch (kind) {
    case 'account':
      return true
    case 'project':
      return projectOf(demand.apiKeyId) === id
    case 'account_model':
      return demand.model === model
    case 'key':
      return demand.apiKeyId === id
    case 'key_model':
      return demand.apiKeyId === id && demand.model === model
  }
}

/** The values that the columns of an account's row have if it belongs to a scope. Null allows any value. */
export function columnsOfScope({ kind, id, model }: Scope): {
  readonly apiKeyId: number | null
  readonly projectId: number | null
  readonly model: string | null
} {
  return {
    apiKeyId: kind === 'key' || kind === 'key_model' ? id : null,
    projectId: kind === 'project' ? id : null,
    model: model === '' ? null : model,
  }
}
