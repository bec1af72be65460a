import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'

/** Locked by the process that has the data folder. It has no content. */
const LOCK_FILE = 'lock.db'
/** How long a start waits for another process to release the data folder. */
export const LOCK_WAIT_MS = 200

/** The files that this process has locked. The garbage collector would close a file that nothing refers to. */
const locked = new Set<Database>()

/** Another process has the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError'

  constructor(folder: string, cause: unknown) {
    super(
      `The data folder ${folder} is in use by another tollgate process. Stop that process, or set TOLLGATE_DATA_DIR to another folder.`,
      { cause },
    )
  }
}

export type FolderLock = {
  /** Repeating it changes nothing. */
  release(): void
}

/**
 * Locks a data folder for this process. The system releases the lock if the process is killed. The lock is on a
 * separate file, so that a backup can read the database at the same time. Throws `DataFolderInUseError` while another
 * process has the folder.
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, LOCK_FILE)
  makeLockFile(path)
  const file = new Database(path, { readwrite: true })
  try {
    file.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)
    // A transaction that never ends. Its journal is in memory, so that a kill leaves no other file.
    file.run('PRAGMA journal_mode = MEMORY')
    file.run('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    throw isBusy(error) ? new DataFolderInUseError(folder, error) : error
  }
  locked.add(file)
  return {
    release() {
      locked.delete(file)
      file.close()
    },
  }
}

/** Does not open a file that exists: closing it would release a lock that this process has on it. */
function makeLockFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Whether SQLite failed because another connection has a lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
