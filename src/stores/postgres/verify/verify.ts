import type { SQL } from 'bun'
import type { Blobs } from '../../../gateway/ports/blobs.ts'
import type { Verification } from '../../../gateway/ports/ledger.ts'
import type { Engine } from '../../books/steps.ts'
import { checkResults } from '../../books/verify/check-results.ts'
import { checksOfRows, Verifying } from '../../books/verify/verify.ts'
import { bunHashes, sha256Of } from '../lane.ts'
import { BalancesReader } from './check-balances.ts'
import { checkCommits } from './check-commits.ts'
import { checkUsageDays } from './check-usage-days.ts'
import { Snapshot } from './snapshot.ts'

/**
 * `Ledger.verify`, while nodes use the books: all checks read the same moment. The results are checked after that, with
 * `blobs`, because reading files takes long, and the database cannot remove old rows while the moment is read.
 */
export async function verifyBooks(
  { reads, engine }: { readonly reads: SQL; readonly engine: Pick<Engine, 'read'> },
  blobs: Pick<Blobs, 'damageOf'> | undefined,
): Promise<Verification> {
  const { verifying, entries } = await Snapshot.use(reads, checkBooks)
  if (blobs !== undefined) await verifying.add([checkResults(engine.read, blobs)], engine.read)
  const { problems, affected } = verifying.found
  return { problems, entries, affected }
}

async function checkBooks(snapshot: Snapshot) {
  const reader = { read: snapshot.read, sha256Of, hashes: bunHashes }
  const balances = new BalancesReader(snapshot)
  const verifying = await Verifying.begin(reader)
  const checks = [balances.check(), ...checksOfRows(reader), checkUsageDays(snapshot), checkCommits(snapshot)]
  await verifying.add(checks, snapshot.read)
  return { verifying, entries: balances.entries.fold.entries }
}
