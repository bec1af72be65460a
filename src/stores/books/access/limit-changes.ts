import { booksInconsistent, GatewayError } from '../../../domain/errors.ts'
import {
  decodeTerms,
  encodeLimitsPatch,
  encodeTerms,
  isSameLimits,
  limitTermsOf,
  patchLimits,
  termsOfModel,
  type LimitsPatch,
  type LimitTerms,
  type ScopeTerms,
} from '../../../domain/limits/limits-row.ts'
import {
  isLimiting,
  kindWithModel,
  type Scope,
  type ScopeKind,
  type ScopeOwner,
  type Terms,
} from '../../../domain/limits/scope.ts'
import type { LimitOwner } from '../../../gateway/ports/ledger/limits.ts'
import { all, booksOf, run, type Step } from '../steps.ts'
import type { AuditedChange } from './changes.ts'
import { refuseClosed } from './closed-accounts.ts'

// The table `limits`: what accounts, projects and keys may use. What they have used is elsewhere in each store.

/** The usage that a store counts for limits. */
export interface LimitUsage {
  /** Whether `usage_days` has all charges, so that a budget can count those before it. */
  isComplete(): Step<boolean>

  /** Inside a step, after its books: has the usage of an account counted under the terms that it now has. */
  recount(accountId: number): Step<void>
}

/**
 * Inside a step: applies a patch to the limits of an account, a project or a key. Returns the audit line if it changes
 * them, with the patch as its detail. Budgets of a new owner need no sums of earlier charges. Throws `already_closed`
 * for a closed account.
 */
export type ChangeLimits = (
  owner: LimitOwner,
  patch: LimitsPatch | undefined,
  line: AuditedChange,
  options?: { readonly isNew?: boolean },
) => Step<readonly AuditedChange[]>

/** The step that changes limits, for those that update accounts, projects and keys. */
export function limitChanges(usage: LimitUsage): ChangeLimits {
  return function* (owner, patch, line, { isNew = false } = {}) {
    if (patch === undefined) return []
    const { accountId } = owner
    yield* refuseClosed(accountId, 'limits')
    if (!isNew && hasBudgets(patch) && !(yield* usage.isComplete()))
      throw notAddedUp('Budgets cannot be set yet')
    yield* booksOf(accountId)
    const before = yield* limitTerms(owner)
    const after = patchLimits(before, patch)
    if (isSameLimits(before, after)) return []
    yield* writeLimits(owner, before, after)
    yield* usage.recount(accountId)
    return [{ ...line, detail: JSON.stringify(encodeLimitsPatch(patch)) }]
  }
}

/** The limits and budgets of an owner, without those of the scopes around it. */
export function* limitTerms(owner: LimitOwner): Step<LimitTerms> {
  return limitTermsOf(yield* scopeTerms(owner.accountId), ownerOf(owner))
}

/** The terms of all scopes of an account that have limits. Throws `books_inconsistent` if one cannot be read. */
export function* scopeTerms(accountId: number): Step<readonly ScopeTerms[]> {
  const rows = yield* all<LimitRow>(
    'SELECT kind, scope_id, model, terms FROM limits WHERE account_id = ? ORDER BY kind, scope_id, model',
    accountId,
  )
  return rows.map(({ kind, scope_id: id, model, terms }) => ({
    scope: { kind, id: Number(id), model },
    terms: readTerms(terms),
  }))
}

export function ownerOf({ accountId, apiKeyId, projectId }: LimitOwner): ScopeOwner {
  if (projectId !== undefined) return { kind: 'project', id: projectId }
  return apiKeyId === undefined ? { kind: 'account', id: accountId } : { kind: 'key', id: apiKeyId }
}

/** The sums of keys are not complete until the charges of an earlier version are added up. */
export function notAddedUp(what: string): GatewayError {
  return new GatewayError(
    'unavailable',
    `${what}: the charges of an earlier version are not added up. The gateway does this within minutes. Try again then.`,
    { retryAfter: '30' },
  )
}

type LimitRow = { kind: ScopeKind; scope_id: bigint; model: string; terms: string }

/** Writes the terms that changed. */
function* writeLimits(owner: LimitOwner, before: LimitTerms, after: LimitTerms): Step<void> {
  const { accountId } = owner
  const { kind, id } = ownerOf(owner)
  const withModel = kindWithModel[kind]
  if (textOf(before) !== textOf(after)) yield* writeTerms(accountId, { kind, id, model: '' }, after)
  for (const model of new Set([...Object.keys(before.perModel), ...Object.keys(after.perModel)])) {
    if (withModel === undefined) throw new RangeError('A project has no limits for a model.')
    const terms = termsOfModel(after, model)
    if (textOf(termsOfModel(before, model)) !== textOf(terms))
      yield* writeTerms(accountId, { kind: withModel, id, model }, terms)
  }
}

function textOf(terms: Terms): string {
  return JSON.stringify(encodeTerms(terms))
}

/** A scope without limits has no row. */
function writeTerms(accountId: number, { kind, id, model }: Scope, terms: Terms): Step<void> {
  return isLimiting(terms)
    ? run(
        `INSERT INTO limits (account_id, kind, scope_id, model, terms) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (account_id, kind, scope_id, model) DO UPDATE SET terms = excluded.terms`,
        accountId,
        kind,
        id,
        model,
        textOf(terms),
      )
    : run(
        'DELETE FROM limits WHERE account_id = ? AND kind = ? AND scope_id = ? AND model = ?',
        accountId,
        kind,
        id,
        model,
      )
}

function readTerms(terms: string): Terms {
  try {
    return decodeTerms(JSON.parse(terms))
  } catch (cause) {
    throw booksInconsistent('account', cause)
  }
}

function hasBudgets({ budgets, perModel }: LimitsPatch): boolean {
  const ofModels = Object.values(perModel ?? {}).map(patch => patch?.budgets)
  return [budgets, ...ofModels].some(changed => changed !== undefined && changed !== null)
}
