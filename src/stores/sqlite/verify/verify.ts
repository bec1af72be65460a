import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind } from '../../../domain/jobs/job.ts'
import type { Blobs } from '../../../gateway/ports/blobs.ts'
import type { Verification } from '../../../gateway/ports/ledger.ts'
import type { Engine } from '../../books/steps.ts'
import { checkCatalog } from '../../books/verify/check-catalog.ts'
import { checkSwitches } from '../../books/verify/check-switches.ts'
import { FoundProblems, type Names } from '../../books/verify/findings.ts'
import type { StepRunner } from '../engine.ts'
import { bunHashes, sha256Of } from '../hashes.ts'
import { BalancesReader } from './check-balances.ts'
import { checkCommits } from './check-commits.ts'
import { checkJobKeys, checkJobs } from './check-jobs.ts'
import { checkCounts, checkLimits, type LiveLimits } from './check-limits.ts'
import { checkResults } from './check-results.ts'
import { checkAttempts, checkCorrections, checkHolds } from './check-rows.ts'
import { checkUsageDays } from './check-usage-days.ts'

type Verified = {
  readonly stepRunner: StepRunner
  readonly live: LiveLimits
  /** The stored results, to check them too. */
  readonly blobs: Pick<Blobs, 'damageOf'> | undefined
}

/** The action of the audit lines by which the operator accepts problems. */
const ACCEPTED = 'books.accept'

/**
 * `Ledger.verify`, while the ledger is in use. Each check runs in bounded pieces, one per turn of the event loop, and
 * compares only what it read in the same turn, so that concurrent writes never look like a problem. Wrong counts of
 * limits in memory are corrected. With `blobs`, the stored results are checked after the books.
 */
export async function verifyBooks(
  database: Database,
  { stepRunner, live, blobs }: Verified,
): Promise<Verification> {
  // A step runs in one turn.
  const read: Engine['read'] = async step => stepRunner.run(step())
  const names = new AccountNames(database)
  const balances = new BalancesReader(database)
  const found = new FoundProblems({ names, sha256Of, accepted: acceptedProblems(database) })
  const checks = [
    balances.check(),
    checkHolds(database),
    checkAttempts(database),
    checkJobs(database),
    checkJobKeys(database),
    checkCorrections(database),
    checkUsageDays(database),
    checkSwitches(read),
    checkLimits(database),
    checkCounts(database, live),
    checkCatalog(read, bunHashes),
    checkCommits(database),
  ]
  for (const check of checks) {
    for await (const findings of check) {
      found.add(findings)
      await new Promise(setImmediate)
    }
  }
  if (blobs !== undefined) for await (const findings of checkResults(database, blobs)) found.add(findings)
  return { problems: found.problems, entries: balances.entries.fold.entries, affected: found.affected }
}

/** The ids of the problems that the operator accepted. */
function acceptedProblems(database: Database): ReadonlySet<string> {
  const rows = database
    .query<{ subject: string }, [string]>('SELECT subject FROM audit_log WHERE action = ?')
    .all(ACCEPTED)
  return new Set(rows.map(({ subject }) => subject))
}

/** Names accounts and their jobs in messages for the operator: `Account "ada" (acct_…)`. */
class AccountNames implements Names {
  readonly #select: Statement<{ name: string; public_id: string }, [bigint]>
  readonly #selectJob: Statement<NamedJob, [bigint]>

  constructor(database: Database) {
    this.#select = database.prepare('SELECT name, public_id FROM accounts WHERE id = ?')
    this.#selectJob = database.prepare('SELECT account_id, kind, id_key, id_tail FROM jobs WHERE row_id = ?')
  }

  ofAccount(accountId: bigint | number): string {
    const row = this.#select.get(BigInt(accountId))
    return row === null ? `Account ${accountId} (deleted)` : `Account "${row.name}" (${row.public_id})`
  }

  /** Null if there is no such job. */
  accountOfJob(rowId: bigint): bigint | null {
    return this.#selectJob.get(rowId)?.account_id ?? null
  }

  /** `Account "ada" (acct_…): job img_…`, by the row of the job. */
  ofJob(rowId: bigint): string {
    const row = this.#selectJob.get(rowId)
    if (row === null) return `Job ${rowId} (deleted)`
    const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
    return `${this.ofAccount(row.account_id)}: job ${id}`
  }
}

type NamedJob = { account_id: bigint; kind: JobKind; id_key: bigint; id_tail: bigint }
