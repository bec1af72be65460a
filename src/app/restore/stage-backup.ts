import { statSync } from 'node:fs'
import { chmod, constants, copyFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileReason } from '../../config/file-reason.ts'
import { auditOf } from '../../gateway/admin/operator.ts'
import type { Problem } from '../../gateway/ports/ledger/ledger.ts'
import { copyBlobs, syncFile } from '../../stores/disk/copy-blobs.ts'
import { hasCode, makeFolder } from '../../stores/disk/durable-files.ts'
import { describeBooks } from '../../stores/sqlite/database/copy-database.ts'
import { openSqliteStore, type SqliteStore } from '../../stores/sqlite/store.ts'
import { randomInBulk } from '../node/random-in-bulk.ts'
import { NODE_NAME } from '../node/sqlite-node.ts'
import { systemClock } from '../system-clock.ts'
import { backupFiles } from '../backup/backup-files.ts'
import type { RestorePlan } from './restored-books.ts'

/** More problems would not help the operator. */
const SHOWN_PROBLEMS_MAX = 5

/** The errors of a rename to a folder with content, if the folder does not exist or could be moved. */
const MOVABLE = ['ENOENT', 'ENOTEMPTY', 'EEXIST']

/**
 * Copies a backup into `staging`, checks the copy and adds a line to its audit log. Migrates it, if it is of an earlier
 * version. Throws an Error for the operator if it is not a backup, if it is not sound, or if the files of jobs could
 * not be moved into place. Leaves nothing in that case.
 */
export async function stageBackup({
  file,
  staging,
  detail,
  replacedBlobs,
  onStep = () => undefined,
}: {
  readonly file: string
  readonly staging: string
  /** Why it is restored, for the audit log. */
  readonly detail: string
  /** The folder whose place the files of jobs will get; undefined restores only the books. */
  readonly replacedBlobs: string | undefined
  /** Called with each step that can take minutes. */
  readonly onStep?: (step: string) => void
}): Promise<Pick<RestorePlan, 'end' | 'entries'>> {
  refuseCopiedFolder(file)
  await rm(staging, { recursive: true, force: true })
  try {
    await makeFolder(staging)
    const stagedBlobs = join(staging, 'blobs')
    if (replacedBlobs !== undefined) await refuseFixedFolder(replacedBlobs, stagedBlobs)
    const database = join(staging, 'tollgate.db')
    onStep('Copying the books')
    await copyFile(file, database, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await chmod(database, 0o600)
    refuseOtherFiles(database, file)
    onStep('Checking the copy')
    const checked = await checkBooks(database, { file, detail })
    await syncFile(database)
    if (replacedBlobs !== undefined) {
      onStep('Copying the files of jobs')
      await copyBlobs(backupFiles(file).blobs, stagedBlobs)
    }
    return checked
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    throw error
  }
}

/**
 * Throws an Error for the operator if `folder` cannot be moved away, such as a mount point. Found only after the
 * restore is decided, this would stop it halfway. A rename to a folder with content changes nothing, and its error
 * shows whether the folder could be moved.
 */
async function refuseFixedFolder(folder: string, staged: string): Promise<void> {
  await makeFolder(join(staged, 'live'))
  const error = await rename(folder, staged).catch((cause: unknown) => cause)
  if (MOVABLE.some(code => hasCode(error, code))) return
  throw new Error(
    `${folder} cannot be moved (${fileReason(error)}), for example because it is a mount point. Nothing was changed. Mount the whole data folder in place of it, or leave the files of jobs as they are with --without-blobs.`,
    { cause: error },
  )
}

/** Looks at a copy, because SQLite can make files beside the file that it reads. */
function refuseOtherFiles(copy: string, file: string): void {
  try {
    describeBooks(copy)
  } catch (cause) {
    throw new Error(`${file} is not a backup of Tollgate.`, { cause })
  }
}

/** If a database was copied together with its write-ahead log, the file alone lacks the latest commits. */
function refuseCopiedFolder(file: string): void {
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (wal === undefined || wal.size === 0) return
  throw new Error(
    `${file} is a part of a copied data folder, not a backup: ${file}-wal belongs to it. Put all files of that folder back.`,
  )
}

async function checkBooks(
  path: string,
  { file, detail }: { readonly file: string; readonly detail: string },
): Promise<Pick<RestorePlan, 'end' | 'entries'>> {
  // Provider keys are not read here, so any encryption key works. "New" allows provider keys that cannot be decrypted.
  const store = openSqliteStore({ path, secretKey: () => ({ bytes: new Uint8Array(32), isNew: true }) })
  try {
    return await checkStore(store, { file, detail })
  } finally {
    await store.close()
  }
}

async function checkStore(
  store: SqliteStore,
  { file, detail }: { readonly file: string; readonly detail: string },
): Promise<Pick<RestorePlan, 'end' | 'entries'>> {
  const node = store.openNode({ name: NODE_NAME, clock: systemClock, random64: randomInBulk() })
  const { problems, entries } = await node.ledger.verify()
  const open = problems.filter(({ isAccepted }) => !isAccepted)
  if (open.length > 0) throw unsound(file, open)
  await node.auditLog.record(
    auditOf({ actor: 'admin', action: 'books.restore', subject: file, detail }, systemClock),
  )
  const [end] = await node.commitChains.ends()
  if (end === undefined) throw new Error('The audit line of the restore has no commit.')
  return { end, entries }
}

function unsound(file: string, problems: readonly Problem[]): Error {
  const shown = problems.slice(0, SHOWN_PROBLEMS_MAX).map(({ message }) => `\n  ${message}`)
  const more = problems.length > shown.length ? `\n  and ${problems.length - shown.length} more` : ''
  return new Error(
    `The books in ${file} do not balance. Nothing was changed. Use another backup.${shown.join('')}${more}`,
  )
}
