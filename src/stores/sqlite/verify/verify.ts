import type { Database } from 'bun:sqlite'
import type { Affected, Problem, Verification } from '../../../gateway/ports/ledger.ts'
import { AccountNames } from './account-names.ts'
import { ChargeReader } from './charge-reader.ts'
import { checkAttempts } from './check-attempts.ts'
import { checkBalances } from './check-balances.ts'
import { checkCommits } from './check-commits.ts'
import { checkCorrections } from './check-corrections.ts'
import { checkHolds } from './check-holds.ts'
import { checkJobs } from './check-jobs.ts'
import { checkUsageDays } from './check-usage-days.ts'
import { EntryReader } from './entry-reader.ts'
import { problemFrom } from './finding.ts'

/** More problems would not help the operator. */
const PROBLEMS_MAX = 100
/** The action of the audit lines by which the operator accepts problems. */
const ACCEPTED = 'books.accept'

/**
 * `Ledger.verify`, while the ledger is in use. Each check runs in bounded pieces, one per turn of the event loop, and
 * compares only what it read in the same turn, so that concurrent writes never look like a problem.
 */
export async function verifyBooks(database: Database): Promise<Verification> {
  const names = new AccountNames(database)
  const entries = new EntryReader(database, names)
  const charges = new ChargeReader(database, names)
  const accepted = acceptedProblems(database)
  const problems: Problem[] = []
  const affected = new AffectedAccounts()
  const checks = [
    entries.check(),
    charges.check(),
    checkBalances(database, { entries, charges, names }),
    checkHolds(database, names),
    checkAttempts(database, names),
    checkJobs(database, names),
    checkCorrections(database, names),
    checkUsageDays(database, names),
    checkCommits(database, names),
  ]
  for (const check of checks) {
    for (const found of check) {
      for (const finding of found) {
        const problem = problemFrom(finding, accepted)
        if (!problem.isAccepted) affected.add(problem)
        if (problems.length < PROBLEMS_MAX) problems.push(problem)
      }
      await new Promise(setImmediate)
    }
  }
  return { problems, entries: entries.fold.entries, affected: affected.all }
}

/** The ids of the problems that the operator accepted. */
function acceptedProblems(database: Database): ReadonlySet<string> {
  const rows = database
    .query<{ subject: string }, [string]>('SELECT subject FROM audit_log WHERE action = ?')
    .all(ACCEPTED)
  return new Set(rows.map(({ subject }) => subject))
}

class AffectedAccounts {
  #isEverything = false
  readonly #accounts = new Set<number>()

  get all(): Affected {
    return this.#isEverything ? 'everything' : [...this.#accounts]
  }

  add({ accountId }: Problem): void {
    if (accountId === null) this.#isEverything = true
    else this.#accounts.add(accountId)
  }
}
