import { existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Backup } from '../../gateway/ports/backups.ts'
import { copyBlobs, countBlobs, syncFile } from '../../stores/disk/copy-blobs.ts'
import { syncFolder } from '../../stores/disk/durable-files.ts'
import { copyDatabase, describeBooks } from '../../stores/sqlite/copy-database.ts'
import { backupFiles } from './backup-files.ts'
import { refuseOwnFiles } from './refuse-own-files.ts'

/** What is copied, and where to. All paths are absolute. */
export type BackupRequest = { readonly database: string; readonly blobs: string; readonly file: string }

/** There is a file of that name. */
export class BackupExistsError extends Error {
  override readonly name = 'BackupExistsError'
}

/**
 * Writes a backup of a data folder that may be in use. Blocks its thread for most of the time, so it runs in a worker.
 * The books get their name last: a file of that name is a whole backup. Throws `BackupExistsError` where there is one,
 * `OwnFileError` for a path among the files of the gateway, and errors of the file system and of SQLite. Then nothing is
 * left.
 */
export async function writeBackup({ database, blobs, file }: BackupRequest): Promise<Backup> {
  // A folder that does not exist is more often mistyped than meant.
  await refuseOwnFiles(file, { dataFolder: dirname(database), blobs })
  const { partial, ...files } = backupFiles(file)
  for (const path of [files.books, files.blobs]) {
    if (existsSync(path))
      throw new BackupExistsError(`${path} exists. Remove it, or give the backup another name.`)
  }
  await remove(partial)
  try {
    // A file that is removed while the books are copied is needed by them, and a file that is written meanwhile may be.
    // So the blobs are copied before and after.
    await copyBlobs(blobs, partial.blobs)
    copyDatabase({ from: database, to: partial.books })
    await copyBlobs(blobs, partial.blobs)
    const blobFiles = await countBlobs(partial.blobs)
    await syncFile(partial.books)
    const { commits } = describeBooks(partial.books)
    const { size: bytes } = await stat(partial.books)
    await rename(partial.blobs, files.blobs)
    await rename(partial.books, files.books).catch(async (error: unknown) => {
      await rm(files.blobs, { recursive: true })
      throw error
    })
    await syncFolder(dirname(file))
    return { file, bytes, commits, blobs: files.blobs, blobFiles }
  } catch (error) {
    await remove(partial)
    throw error
  }
}

async function remove({ books, blobs }: ReturnType<typeof backupFiles>['partial']): Promise<void> {
  // SQLite has a journal beside a file that it writes.
  for (const path of [books, `${books}-journal`, blobs]) await rm(path, { recursive: true, force: true })
}
