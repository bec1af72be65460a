import type { NanoUsd } from '../money.ts'

/**
 * What limits and budgets apply to. A request passes all scopes of its key, in this order, and the first one that
 * refuses is named. All scopes of a key belong to one account.
 */
export const scopeKinds = ['account', 'project', 'account_model', 'key', 'key_model'] as const
export type ScopeKind = (typeof scopeKinds)[number]

export type Scope = {
  readonly kind: ScopeKind
  /** The store's integer key of the account, project or key. */
  readonly id: number
  /** The model of an `account_model` or a `key_model`; the empty text for the other kinds. */
  readonly model: string
}

/** What has limits of its own: an account, a project or a key, by the store's integer key. */
export type ScopeOwner = { readonly kind: 'account' | 'project' | 'key'; readonly id: number }

/** The kind of the scopes of an owner with a model. A project has none. */
export const kindWithModel = {
  account: 'account_model',
  project: undefined,
  key: 'key_model',
} as const satisfies Record<ScopeOwner['kind'], ScopeKind | undefined>

/** The names are those of the admin API, and the codes of a refusal. */
export const rateLimits = ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const
export type RateLimit = (typeof rateLimits)[number]
export type RateLimits = Readonly<Partial<Record<RateLimit, number>>>

/** Days, weeks from Monday, and months are in UTC. `total` never ends. */
export const budgetPeriods = ['day', 'week', 'month', 'total'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]
export type Budgets = Readonly<Partial<Record<BudgetPeriod, NanoUsd>>>

/** What a scope may use. A limit or budget that is absent limits nothing. */
export type Terms = { readonly limits: RateLimits; readonly budgets: Budgets }

export const NO_TERMS: Terms = { limits: {}, budgets: {} }

/** Whether the terms limit anything. The use of a scope without terms is not counted. */
export function isLimiting({ limits, budgets }: Terms): boolean {
  return Object.keys(limits).length > 0 || Object.keys(budgets).length > 0
}

/** A change of some members: null removes one, and an absent one stays. Null for all members removes them all. */
type Patch<Members> = { readonly [Name in keyof Members]?: Members[Name] | null } | null

/** A change of the terms of a scope. */
export type TermsPatch = { readonly limits?: Patch<RateLimits>; readonly budgets?: Patch<Budgets> }

export function patchTerms(terms: Terms, { limits = {}, budgets = {} }: TermsPatch): Terms {
  return { limits: patched(terms.limits, limits), budgets: patched(terms.budgets, budgets) }
}

function patched<Members extends object>(members: Members, patch: Patch<Members>): Members {
  if (patch === null) return {} as Members
  const changed = { ...members, ...patch }
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)) as Members
}
