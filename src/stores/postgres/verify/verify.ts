import type { SQL } from 'bun'
import { BlobElsewhereError, type Blobs } from '../../../gateway/ports/blobs.ts'
import type { Verification } from '../../../gateway/ports/ledger.ts'
import type { StepRunner } from '../../books/steps.ts'
import { checkResults } from '../../books/verify/check-results.ts'
import { checksOfRows, Verifying, type OnPart } from '../../books/verify/verify.ts'
import { timedReads, type Reads } from '../database/reads.ts'
import { bunHashes, sha256Of } from '../lanes/lane.ts'
import { BalancesReader } from './read-balances.ts'
import { checkCommits } from './read-commits.ts'
import { CountsReader } from './read-counts.ts'
import { checkUsageDays } from './read-usage-days.ts'
import { Snapshot } from './snapshot.ts'

/** The first rows of a cursor come after the database sorted all of them. */
const SORT_MS_MAX = 600_000

/**
 * `Ledger.verify`, while nodes use the books: all checks read the same moment. Wrong counts of limits are corrected.
 * The results are checked after that, with `blobs`, because reading files takes long, and the database cannot remove
 * old rows while the moment is read.
 */
export async function verifyBooks(
  { connect, stepRunner, recount }: Verified,
  blobs: Pick<Blobs, 'damageOf'> | undefined,
  onPart?: OnPart,
): Promise<Verification> {
  // A connection of its own, so that other reads do not wait for it.
  const reads = timedReads(connect, { answerMs: SORT_MS_MAX })
  const { verifying, entries, wrongCounts } = await checkOnce(reads, onPart)
  for (const accountId of wrongCounts) await recount(accountId)
  const files = blobs && countingElsewhere(blobs)
  if (files !== undefined)
    await verifying.add({ results: checkResults(stepRunner.read, files) }, stepRunner.read)
  const { problems, affected } = verifying.found
  const filesElsewhere = files?.elsewhere ?? 0
  return { problems, entries, affected, ...(filesElsewhere > 0 && { filesElsewhere }) }
}

/** Files of other nodes can only be checked there. */
function countingElsewhere(blobs: Pick<Blobs, 'damageOf'>): Pick<Blobs, 'damageOf'> & { elsewhere: number } {
  return {
    elsewhere: 0,
    damageOf(file) {
      return blobs.damageOf(file).catch((error: unknown) => {
        if (!(error instanceof BlobElsewhereError)) throw error
        this.elsewhere += 1
        return undefined
      })
    },
  }
}

type Verified = {
  readonly connect: () => SQL
  readonly stepRunner: Pick<StepRunner, 'read'>
  /** Counts anew what the limits of an account have used. */
  readonly recount: (accountId: number) => Promise<void>
}

async function checkOnce(reads: Reads, onPart: OnPart | undefined) {
  try {
    return await Snapshot.take(reads, snapshot => checkBooks(snapshot, onPart))
  } finally {
    await reads.close()
  }
}

async function checkBooks(snapshot: Snapshot, onPart: OnPart | undefined) {
  const reader = { read: snapshot.read, sha256Of, hashes: bunHashes }
  const balances = new BalancesReader(snapshot)
  const counts = new CountsReader(snapshot)
  const verifying = await Verifying.begin(reader, onPart)
  const checks = {
    balances: balances.check(),
    ...checksOfRows(reader),
    usage_days: checkUsageDays(snapshot),
    counts: counts.check(),
    commits: checkCommits(snapshot),
  }
  await verifying.add(checks, snapshot.read)
  return { verifying, entries: balances.entries.fold.entries, wrongCounts: counts.wrong }
}
