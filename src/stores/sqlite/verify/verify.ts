import type { Database } from 'bun:sqlite'
import type { Blobs } from '../../../gateway/ports/media/blobs.ts'
import type { Verification } from '../../../gateway/ports/ledger/ledger.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { checkResults } from '../../books/verify/check-results.ts'
import { checksOfRows, Verifying, type OnPart, type Reader } from '../../books/verify/verify.ts'
import type { StepDriver } from '../commits/step-runner.ts'
import { bunHashes, sha256Of } from '../commits/hashes.ts'
import { BalancesReader } from './read-balances.ts'
import { checkCommits } from './read-commits.ts'
import { checkCounts, type LiveLimits } from './read-counts.ts'
import { checkUsageDays } from './read-usage-days.ts'

type Verified = {
  readonly stepDriver: StepDriver
  readonly live: LiveLimits
  /** The stored results, to check them after the books. */
  readonly blobs: Pick<Blobs, 'damageOf'> | undefined
  readonly onPart: OnPart | undefined
}

/**
 * `Ledger.verify`, while the ledger is in use. Each check runs in bounded pieces, one per turn of the event loop, and
 * compares only what it read in the same turn, so that concurrent writes never look like a problem. Wrong counts of
 * limits in memory are corrected.
 */
export async function verifyBooks(
  database: Database,
  { stepDriver, live, blobs, onPart }: Verified,
): Promise<Verification> {
  const read: Reader['read'] = async step => {
    await nextTurn()
    return stepDriver.run(step())
  }
  const reader = { read, sha256Of, hashes: bunHashes }
  const balances = new BalancesReader(database)
  const verifying = await Verifying.begin(reader, onPart)
  const checks = {
    balances: inTurns(balances.check()),
    ...checksOfRows(reader),
    usage_days: inTurns(checkUsageDays(database)),
    counts: inTurns(checkCounts(database, live)),
    commits: inTurns(checkCommits(database)),
  }
  await verifying.add(checks, read)
  if (blobs !== undefined) await verifying.add({ results: checkResults(read, blobs) }, read)
  const { problems, affected } = verifying.found
  return { problems, entries: balances.entries.fold.entries, affected }
}

async function* inTurns(check: Iterable<readonly Finding[]>): AsyncGenerator<readonly Finding[]> {
  for (const findings of check) {
    yield findings
    await nextTurn()
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => void setImmediate(resolve))
}
