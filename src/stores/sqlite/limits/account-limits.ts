import type { LimitRefusal } from '../../../domain/limits/admission.ts'
import type { Scope, Terms } from '../../../domain/limits/scope.ts'
import type { Demand, ScopeUsage } from '../../../domain/limits/scope-usage.ts'

/** Who makes a request, and what it takes of the limits of its scopes. */
export type ScopedDemand = Demand & { readonly apiKeyId: number; readonly model: string }

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

/** The scopes of one account that have limits, in memory. */
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
