import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../../domain/errors.ts'
import { encodeLimitsPatch, type LimitsPatch } from '../../../domain/limits/limits-row.ts'
import type { Audit } from '../../../gateway/ports/audit.ts'
import type { LimitOwner, Limits } from '../../../gateway/ports/limits.ts'
import { ClosedAccounts } from '../closed-accounts.ts'
import type { HoldOwner } from '../hold-owner.ts'
import type { LedgerSteps } from '../ledger.ts'
import { isUsageRebuilt } from '../usage-days.ts'
import { isDamaged } from './limit-steps.ts'

/** `Limits` of one node. */
export function createLimits(parts: {
  readonly steps: Pick<LedgerSteps, 'limits' | 'booksOfAccounts'>
  readonly owner: HoldOwner
}): Limits {
  const { owner } = parts
  const { limits, booksOfAccounts } = parts.steps
  return {
    of: async of => limits.termsOf(of),
    budgets: async of => limits.budgetsOf(booksOfAccounts.of(of.accountId), of, owner.nowMs()),
    modelBudgets: async of => limits.modelBudgetsOf(booksOfAccounts.of(of.accountId), of, owner.nowMs()),
    async recentRefusal({ accountId, apiKeyId }) {
      const recent = () => limits.recentRefusal(booksOfAccounts.of(accountId), apiKeyId, owner.nowMs())
      return unlessDamaged(recent, undefined)
    },
    async countRead({ accountId, apiKeyId }) {
      const count = () => limits.takeRead(booksOfAccounts.of(accountId), apiKeyId, owner.nowMs())
      return unlessDamaged(count, { outcome: 'taken', rates: {} })
    },
  }
}

/** Reads of an account whose books cannot be read are not limited. Its paid work is refused when it takes its part. */
function unlessDamaged<Result>(ask: () => Result, instead: Result): Result {
  try {
    return ask()
  } catch (error) {
    if (isDamaged(error)) return instead
    throw error
  }
}

/** A line of the audit log, whose actor and time are those of the edit. */
export type AuditedChange = Omit<Audit, 'actor' | 'atMs'>

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
) => readonly AuditedChange[]

/** The step that changes limits, for those that update accounts, projects and keys. */
export function limitChanges({
  database,
  steps: { limits, booksOfAccounts },
  owner,
}: {
  readonly database: Database
  readonly steps: Pick<LedgerSteps, 'limits' | 'booksOfAccounts'>
  readonly owner: HoldOwner
}): ChangeLimits {
  const closedAccounts = new ClosedAccounts(database)
  return (of, patch, line, { isNew = false } = {}) => {
    if (patch === undefined) return []
    closedAccounts.refuse(of.accountId, 'limits')
    if (!isNew && hasBudgets(patch) && !isUsageRebuilt(database))
      throw notAddedUp('Budgets cannot be set yet')
    const isChanged = limits.change(booksOfAccounts.of(of.accountId), of, patch, owner.nowMs())
    return isChanged ? [{ ...line, detail: JSON.stringify(encodeLimitsPatch(patch)) }] : []
  }
}

function hasBudgets({ budgets, perModel }: LimitsPatch): boolean {
  const ofModels = Object.values(perModel ?? {}).map(patch => patch?.budgets)
  return [budgets, ...ofModels].some(changed => changed !== undefined && changed !== null)
}

/** The sums of keys are not complete until the charges of an earlier version are added up. */
export function notAddedUp(what: string): GatewayError {
  return new GatewayError(
    'unavailable',
    `${what}: the charges of an earlier version are not added up. The gateway does this within minutes. Try again then.`,
    { retryAfter: '30' },
  )
}
