import type { Database } from 'bun:sqlite'
import type { Problem, Verification } from '../../../gateway/ports/ledger.ts'
import { AccountNames } from './account-names.ts'
import { ChargeReader } from './charge-reader.ts'
import { checkAttempts } from './check-attempts.ts'
import { checkBalances } from './check-balances.ts'
import { checkCommits } from './check-commits.ts'
import { checkHolds } from './check-holds.ts'
import { checkJobs } from './check-jobs.ts'
import { checkUsageDays } from './check-usage-days.ts'
import { EntryReader } from './entry-reader.ts'

/** More problems would not help the operator. */
const PROBLEMS_MAX = 100

/**
 * `Ledger.verify`, while the ledger is in use. Each check runs in bounded pieces, one per turn of the event loop, and compares
 * only what it read in the same turn, so that concurrent writes never look like a problem.
 */
export async function verifyBooks(database: Database): Promise<Verification> {
  const names = new AccountNames(database)
  const entries = new EntryReader(database, names)
  const charges = new ChargeReader(database, names)
  const problems: Problem[] = []
  const checks = [
    entries.check(),
    charges.check(),
    checkBalances(database, { entries, charges, names }),
    checkHolds(database, names),
    checkAttempts(database, names),
    checkJobs(database, names),
    checkUsageDays(database, names),
    checkCommits(database, names),
  ]
  for (const check of checks) {
    for (const found of check) {
      problems.push(...found.slice(0, PROBLEMS_MAX - problems.length))
      await new Promise(setImmediate)
    }
  }
  return { problems, entries: entries.fold.entries }
}
