import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Database } from 'bun:sqlite'
import { migrate } from './migrate.ts'

export type { Database } from 'bun:sqlite'

/** How long a start waits for another process to release the data folder. */
const LOCK_WAIT_MS = 200
/** The page cache: 16 MiB, enough for the ends of all tables, where rows are appended. */
const CACHE_KIB = 16_384

/** Another process has the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError'
}

/**
 * Opens the database file for this process alone, creates it if it is missing, and applies new migrations. Throws
 * `DataFolderInUseError` while another process has it, and an Error with a message for the operator if the file is not a
 * database or was written by a newer version.
 *
 * Integers are read as bigints. Reads may use the handle at any time and see only committed data, because a transaction ends
 * in the turn of the event loop in which it began. Every write goes through `GroupCommit.run`.
 */
export function openDatabase({ path }: { readonly path: string }): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // An existing folder may be readable by others. SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600))
  const database = opened(path)
  try {
    lock(database, path)
    // FULL: an answered commit survives a power failure, not only a crash of the process.
    database.run('PRAGMA synchronous = FULL')
    database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
    // A migration may replace a table that other tables refer to.
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

/** Locks the file until it is closed, before anything is read. It is also the lock of the data folder. */
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
