import type { Database } from 'bun:sqlite'
import type { Finding } from '../../books/verify/findings.ts'
import { findingOfCount } from '../../books/verify/rules/limit-rules.ts'
import type { BooksOfAccounts } from '../ledger/account-books.ts'
import type { LimitSteps } from '../limits/limit-steps.ts'
import { isUsageRebuilt } from '../usage-days.ts'

/** The limits in memory of the accounts of a running store. */
export type LiveLimits = {
  readonly limits: Pick<LimitSteps, 'correctCounts'>
  readonly booksOfAccounts: Pick<BooksOfAccounts, 'limited'>
  readonly nowMs: () => number
}

/**
 * Compares what is counted in memory with the charges and the open requests and jobs, an account a turn, and corrects
 * it. Nothing is compared while the sums of an upgrade are not finished.
 */
export function* checkCounts(
  database: Database,
  { limits, booksOfAccounts, nowMs }: LiveLimits,
): Generator<readonly Finding[]> {
  if (!isUsageRebuilt(database)) return
  const owner = database.prepare<{ public_id: string }, [string, number]>(
    `SELECT public_id FROM accounts WHERE ?1 LIKE 'account%' AND id = ?2
      UNION ALL SELECT public_id FROM projects WHERE ?1 = 'project' AND id = ?2
      UNION ALL SELECT public_id FROM api_keys WHERE ?1 LIKE 'key%' AND id = ?2`,
  )
  for (const books of booksOfAccounts.limited())
    yield limits.correctCounts(books, nowMs()).map(wrong => {
      const { kind, id } = wrong.scope
      return findingOfCount(books.accountId, wrong, owner.get(kind, id)?.public_id ?? `${kind} ${id}`)
    })
}
