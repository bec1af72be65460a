import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Database } from 'bun:sqlite'
import { migrate } from './migrate.ts'

export type { Database } from 'bun:sqlite'

/** How long a start waits for another process to let go of the data folder. */
const LOCK_WAIT_MS = 200
/** Pages kept in memory: 16 MiB, enough for the hot ends of every table. */
const CACHE_KIB = 16_384

/** The data folder belongs to a running process. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError'
}

/**
 * Opens the database file, made where there is none, takes it for this process alone, and brings its tables up to date.
 * Throws `DataFolderInUseError` while another process has it, and an Error whose message is a sentence for the operator
 * when the file is no database, or was written by a newer version.
 *
 * Integers come back as bigints. Reads may use the handle at any time and see only what is committed, because a
 * transaction never outlives one turn of the event loop; every write goes through `GroupCommit.run`.
 */
export function openDatabase({ path }: { readonly path: string }): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // A folder that was there before may be open to others. SQLite gives the files beside this one the same mode.
  closeSync(openSync(path, 'a', 0o600))
  const database = opened(path)
  try {
    lock(database, path)
    // FULL: a commit that was answered survives a power cut, not only a crash of the process.
    database.run('PRAGMA synchronous = FULL')
    database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
    // A migration may put a table in the place of one that others refer to.
    database.run('PRAGMA foreign_keys = OFF')
    migrate(database)
    database.run('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function opened(path: string): Database {
  try {
    return new Database(path, { create: true, readwrite: true, safeIntegers: true, strict: true })
  } catch (cause) {
    throw unusable(path, cause)
  }
}

/** Taken before anything is read, and kept until the file is closed: it is also the lock of the data folder. */
function lock(database: Database, path: string): void {
  try {
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)
    database.run('PRAGMA locking_mode = EXCLUSIVE')
    database.run('PRAGMA journal_mode = WAL')
    database.run('BEGIN IMMEDIATE')
    database.run('COMMIT')
  } catch (error) {
    if (!isBusy(error)) throw unusable(path, error)
    throw new DataFolderInUseError(
      `The data folder ${dirname(path)} is in use by another tollgate process. Stop that one, or give this one a folder of its own.`,
      { cause: error },
    )
  }
}

function unusable(path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`The database ${path} cannot be used: ${reason}.`, { cause })
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
