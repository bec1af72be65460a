import type { Limits } from '../../../gateway/ports/ledger/limits.ts'
import { limitTerms } from '../../books/access/limit-changes.ts'
import type { StepRunner } from '../../books/steps.ts'
import type { HoldOwner } from '../ledger/hold-owner.ts'
import type { LedgerSteps } from '../ledger/ledger.ts'
import { isDamaged } from './limit-steps.ts'

/** `Limits` of one node. */
export function createLimits(parts: {
  readonly stepRunner: StepRunner
  readonly steps: Pick<LedgerSteps, 'limits' | 'booksOfAccounts'>
  readonly owner: HoldOwner
}): Limits {
  const { stepRunner, owner } = parts
  const { limits, booksOfAccounts } = parts.steps
  return {
    of: of => stepRunner.read(() => limitTerms(of)),
    budgets: async of => limits.budgetsOf(booksOfAccounts.of(of.accountId), of, owner.nowMs()),
    modelBudgets: async of => limits.modelBudgetsOf(booksOfAccounts.of(of.accountId), of, owner.nowMs()),
    recentRefusal({ accountId, apiKeyId }) {
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
