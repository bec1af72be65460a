import type { SQL } from 'bun'
import { BlobElsewhereError, type Blobs } from '../../../gateway/ports/media/blobs.ts'
import { affectsNothing, type Ledger, type Verification } from '../../../gateway/ports/ledger/ledger.ts'
import type { StepRunner } from '../../books/steps.ts'
import { checkResults } from '../../books/verify/check-results.ts'
import { checksOfRows, Verifying, type OnPart } from '../../books/verify/verify.ts'
import { timedReads, type Reads } from '../database/reads.ts'
import { bunHashes, sha256Of } from '../lanes/lane.ts'
import { CheckedBooks, noteChecked, noteUnsound } from './checked-books.ts'
import { BalancesReader } from './read-balances.ts'
import { checksOfChangedRows } from './read-changed-rows.ts'
import { checkCommits } from './read-commits.ts'
import { CountsReader } from './read-counts.ts'
import { checkUsageDays, checkUsageDaysSince } from './read-usage-days.ts'
import { Snapshot } from './snapshot.ts'

/** The first rows of a cursor come after the database sorted all of them. */
const SORT_MS_MAX = 600_000

/**
 * `Ledger.verify`, while nodes use the books: all checks read the same moment. Wrong counts of limits are corrected.
 * The results are checked after that, with `blobs`, because reading files takes long, and the database cannot remove
 * old rows while the moment is read.
 */
export async function verifyBooks(
  verified: Verified,
  blobs: Pick<Blobs, 'damageOf'> | undefined,
  onPart?: OnPart,
): Promise<Verification> {
  return withReads(verified, async reads => {
    const checked = await check(reads, 'all', onPart)
    const verification = await ended(checked, { ...verified, reads })
    if (blobs === undefined) return verification
    const { verifying } = checked
    const { read } = verified.stepRunner
    const files = countingElsewhere(blobs)
    await verifying.add({ results: checkResults(read, files) }, read)
    const { problems, affected } = verifying.found
    return {
      ...verification,
      problems,
      affected,
      ...(files.elsewhere > 0 && { filesElsewhere: files.elsewhere }),
    }
  })
}

/**
 * `Ledger.verifyRecent`. What it finds is looked for in all rows, so that a problem has the same id and the same
 * message in every check. If those cannot be read, what it found counts.
 */
export async function verifyRecent(
  verified: Verified,
  about?: Parameters<Ledger['verifyRecent']>[0],
): Promise<Verification> {
  return withReads(verified, async reads => {
    if (about?.isAllUnreadable) return ended(await check(reads, 'only recent'), { ...verified, reads })
    const recent = await check(reads, 'recent')
    const all =
      !recent.isRecent || isSound(recent) ? undefined : await check(reads, 'all').catch(() => undefined)
    return ended(all ?? recent, { ...verified, reads })
  })
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

async function withReads(
  { connect }: Verified,
  work: (reads: Reads) => Promise<Verification>,
): Promise<Verification> {
  // A connection of its own, so that other reads do not wait for it.
  const reads = timedReads(connect, { answerMs: SORT_MS_MAX })
  try {
    return await work(reads)
  } finally {
    await reads.close()
  }
}

type Checked = Awaited<ReturnType<typeof checkBooks>> & {
  /** Why the database refused to note what was read. */
  readonly unnoted?: unknown
}

/** Checks all rows, or those since the last sound check if there is one. `only recent` never reads all. */
function check(reads: Reads, which: 'all' | 'recent' | 'only recent', onPart?: OnPart): Promise<Checked> {
  return Snapshot.take(reads, async snapshot => {
    const since = which === 'all' ? undefined : await CheckedBooks.in(snapshot, which)
    if (which === 'only recent' && since === undefined) throw new Error('No sound check is known.')
    const checked = await checkBooks(snapshot, since, onPart)
    // A later check must read again what is wrong.
    if (which === 'only recent' || !isSound(checked)) return checked
    return { ...checked, unnoted: await noteChecked(snapshot, checked.entries) }
  })
}

async function checkBooks(snapshot: Snapshot, since: CheckedBooks | undefined, onPart: OnPart | undefined) {
  const reader = { read: snapshot.read, sha256Of, hashes: bunHashes }
  const balances = new BalancesReader(snapshot, since)
  const counts = new CountsReader(snapshot)
  const verifying = await Verifying.begin(reader, onPart)
  const checks = {
    balances: balances.check(),
    ...checksOfRows(reader),
    ...(since && checksOfChangedRows(snapshot, since)),
    usage_days: since === undefined ? checkUsageDays(snapshot) : checkUsageDaysSince(snapshot, since),
    counts: counts.check(),
    commits: checkCommits(snapshot, since),
  }
  await verifying.add(checks, snapshot.read)
  return { verifying, entries: balances.entries, wrongCounts: counts.wrong, isRecent: since !== undefined }
}

/** Whether nothing was found that stops paid work. */
function isSound({ verifying }: Pick<Checked, 'verifying'>): boolean {
  return affectsNothing(verifying.found.affected)
}

/** The result of a check, after which the next one knows what to read. */
async function ended(
  checked: Checked,
  { reads, recount }: Pick<Verified, 'recount'> & { readonly reads: Reads },
): Promise<Verification> {
  const { verifying, entries, wrongCounts, isRecent, unnoted } = checked
  // Without it, the stored result says the same.
  if (!isRecent && !isSound(checked)) await noteUnsound(reads).catch(() => undefined)
  for (const accountId of wrongCounts) await recount(accountId)
  const { problems, affected } = verifying.found
  return {
    problems,
    entries,
    affected,
    ...(isRecent && { isRecent }),
    ...(unnoted !== undefined && { unnoted }),
  }
}
