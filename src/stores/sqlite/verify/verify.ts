import type { Database } from 'bun:sqlite'
import type { Blobs } from '../../../gateway/ports/blobs.ts'
import type { Affected, Problem, Verification } from '../../../gateway/ports/ledger.ts'
import { AccountNames } from './account-names.ts'
import { ChargeReader } from './charge-reader.ts'
import { checkAttempts } from './check-attempts.ts'
import { checkBalances } from './check-balances.ts'
import { checkCatalog } from './check-catalog.ts'
import { checkCommits } from './check-commits.ts'
import { checkCorrections } from './check-corrections.ts'
import { checkHolds } from './check-holds.ts'
import { checkJobKeys } from './check-job-keys.ts'
import { checkJobs } from './check-jobs.ts'
import { checkResults } from './check-results.ts'
import { checkSwitches } from './check-switches.ts'
import { checkUsageDays } from './check-usage-days.ts'
import { EntryReader } from './entry-reader.ts'
import { problemFrom, type Finding } from './finding.ts'

/** More problems would not help the operator. */
const PROBLEMS_MAX = 100
/** Each damaged result is the charge of another customer, so that the operator needs all of them. */
const DAMAGED_RESULTS_MAX = 1000
/** The action of the audit lines by which the operator accepts problems. */
const ACCEPTED = 'books.accept'

/**
 * `Ledger.verify`, while the ledger is in use. Each check runs in bounded pieces, one per turn of the event loop, and
 * compares only what it read in the same turn, so that concurrent writes never look like a problem. With `blobs`, the
 * stored results are checked after the books.
 */
export async function verifyBooks(
  database: Database,
  blobs?: Pick<Blobs, 'damageOf'>,
): Promise<Verification> {
  const names = new AccountNames(database)
  const entries = new EntryReader(database, names)
  const charges = new ChargeReader(database, names)
  const found = new FoundProblems(acceptedProblems(database))
  const checks = [
    entries.check(),
    charges.check(),
    checkBalances(database, { entries, charges, names }),
    checkHolds(database, names),
    checkAttempts(database, names),
    checkJobs(database, names),
    checkJobKeys(database, names),
    checkCorrections(database, names),
    checkUsageDays(database, names),
    checkSwitches(database, names),
    checkCatalog(database),
    checkCommits(database, names),
  ]
  for (const check of checks) {
    for (const findings of check) {
      found.add(findings)
      await new Promise(setImmediate)
    }
  }
  if (blobs !== undefined)
    for await (const findings of checkResults(database, names, blobs)) found.add(findings)
  return { problems: found.problems, entries: entries.fold.entries, affected: found.affected }
}

/** The ids of the problems that the operator accepted. */
function acceptedProblems(database: Database): ReadonlySet<string> {
  const rows = database
    .query<{ subject: string }, [string]>('SELECT subject FROM audit_log WHERE action = ?')
    .all(ACCEPTED)
  return new Set(rows.map(({ subject }) => subject))
}

class FoundProblems {
  readonly #accepted: ReadonlySet<string>
  readonly #ofBooks: Problem[] = []
  readonly #ofResults: Problem[] = []
  #isEverything = false
  readonly #accounts = new Set<number>()

  constructor(accepted: ReadonlySet<string>) {
    this.#accepted = accepted
  }

  get problems(): readonly Problem[] {
    return [...this.#ofBooks, ...this.#ofResults]
  }

  get affected(): Affected {
    return this.#isEverything ? 'everything' : [...this.#accounts]
  }

  add(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const problem = problemFrom(finding, this.#accepted)
      if (problem.stopsNothing) {
        if (this.#ofResults.length < DAMAGED_RESULTS_MAX) this.#ofResults.push(problem)
        continue
      }
      if (!problem.isAccepted) this.#stop(problem)
      if (this.#ofBooks.length < PROBLEMS_MAX) this.#ofBooks.push(problem)
    }
  }

  #stop({ accountId }: Problem): void {
    if (accountId === null) this.#isEverything = true
    else this.#accounts.add(accountId)
  }
}
