import { closedRefusal } from '../../../domain/accounts/account.ts'
import { first, type Step } from '../steps.ts'

/**
 * Throws `already_closed` if the account is closed, inside the step of a change that a closed account does not take.
 */
export function* refuseClosed(accountId: number, what: string): Step<void> {
  const row = yield* first<{ is_closed: bigint }>(
    'SELECT closed_at_ms IS NOT NULL AS is_closed FROM accounts WHERE id = ?',
    accountId,
  )
  if (row?.is_closed === 1n) throw closedRefusal(what)
}
