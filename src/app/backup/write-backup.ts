import { existsSync } from 'node:fs'
import { link, rename, rm, stat, unlink, realpath } from 'node:fs/promises'
import { dirname, basename, join, relative, sep } from 'node:path'
import type { Backup } from '../../gateway/ports/backups.ts'
import { cannotLink, copyBlobs, countBlobs, syncFile } from '../../stores/disk/copy-blobs.ts'
import { hasCode, syncFolder, unlessAbsent } from '../../stores/disk/durable-files.ts'
import { copyDatabase, describeBooks } from '../../stores/sqlite/database/copy-database.ts'
import { isOwnName } from '../data-folder.ts'
import { backupFiles } from './backup-files.ts'

/** The source and the target of a backup. All paths are absolute. */
export type BackupRequest = { readonly database: string; readonly blobs: string; readonly file: string }

/** There is a file of that name. */
class BackupExistsError extends Error {
  override readonly name = 'BackupExistsError'

  constructor(path: string) {
    super(`${path} exists. Remove it, or give the backup another name.`)
  }
}

/**
 * Writes a backup of a data folder that may be in use. Blocks its thread for most of the time, so it runs in a worker.
 * The books get their name last, so a file with that name is a complete backup. Throws `BackupExistsError` if the file
 * exists, `OwnFileError` for a path that the gateway itself uses, and errors of the file system and of SQLite. A backup
 * that fails leaves no files.
 */
export async function writeBackup({ database, blobs, file }: BackupRequest): Promise<Backup> {
  // A folder that does not exist is more often mistyped than meant.
  await refuseOwnFiles(file, { dataFolder: dirname(database), blobs })
  const { partial, ...files } = backupFiles(file)
  if (isNamedByHalf(file)) await rm(files.blobs, { recursive: true })
  // Before the refusal, because a backup that was killed while it got its name has both.
  await remove(partial)
  for (const path of [files.books, files.blobs]) {
    if (existsSync(path)) throw new BackupExistsError(path)
  }
  try {
    // The copied books need files that are removed during their copy, and may need files that are written during it. So
    // the blobs are copied before and after the books.
    await copyBlobs(blobs, partial.blobs)
    copyDatabase({ from: database, to: partial.books })
    await copyBlobs(blobs, partial.blobs)
    const blobFiles = await countBlobs(partial.blobs)
    await syncFile(partial.books)
    const { commits } = describeBooks(partial.books)
    const { size: bytes } = await stat(partial.books)
    await nameParts(file)
    return { file, bytes, commits, blobs: files.blobs, blobFiles }
  } catch (error) {
    await remove(partial)
    throw error
  }
}

/** Whether an earlier backup was killed before the books got their name: only the files of jobs have theirs. */
function isNamedByHalf(file: string): boolean {
  const { partial, books, blobs } = backupFiles(file)
  return existsSync(blobs) && existsSync(partial.books) && !existsSync(books) && !existsSync(partial.blobs)
}

/** Gives both parts their names, durably, the books last. Replaces nothing. Neither has its name if this fails. */
async function nameParts(file: string): Promise<void> {
  const { partial, books, blobs } = backupFiles(file)
  await rename(partial.blobs, blobs).catch((error: unknown) => {
    // A rename replaces an empty folder, and nothing else.
    throw existsSync(blobs) ? new BackupExistsError(blobs) : error
  })
  const named = [blobs]
  try {
    await nameFile(partial.books, books)
    named.push(books)
    await syncFolder(dirname(file))
  } catch (error) {
    for (const path of named) await rm(path, { recursive: true })
    throw error
  }
}

/** Gives a file another name. Unlike a rename, a link does not replace a file. */
async function nameFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw new BackupExistsError(to)
    if (!cannotLink(error)) throw error
    await rename(from, to)
    return
  }
  await unlink(from)
}

async function remove({ books, blobs }: ReturnType<typeof backupFiles>['partial']): Promise<void> {
  // SQLite has a journal beside a file that it writes.
  for (const path of [books, `${books}-journal`, blobs]) await rm(path, { recursive: true, force: true })
}

/** The path belongs to the gateway. */
class OwnFileError extends Error {
  override readonly name = 'OwnFileError'
}

/**
 * Throws `OwnFileError` for a backup that would write among the gateway's own files, and an error of the file system if
 * the folder of `file` does not exist. Other files and folders within the data folder are allowed.
 */
async function refuseOwnFiles(
  file: string,
  { dataFolder, blobs }: { readonly dataFolder: string; readonly blobs: string },
): Promise<void> {
  const folder = await realpath(dirname(file))
  const data = await realpath(dataFolder)
  // The files of jobs can be on another disk, with a symbolic link in the data folder.
  const jobFiles = await unlessAbsent(realpath(blobs))
  const { partial, ...files } = backupFiles(join(folder, basename(file)))
  for (const path of [...Object.values(files), ...Object.values(partial)]) {
    const name = firstNameIn(data, path)
    const isInJobFiles = jobFiles !== undefined && firstNameIn(jobFiles, path) !== undefined
    if (isInJobFiles || (name !== undefined && isOwnName(name))) throw new OwnFileError(path)
  }
}

/**
 * The name of the file or folder within `folder` that has `path`; empty for the folder itself, undefined if it is
 * elsewhere.
 */
function firstNameIn(folder: string, path: string): string | undefined {
  const [first] = relative(folder, path).split(sep)
  return first === '..' ? undefined : first
}
