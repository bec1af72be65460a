import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Database } from 'bun:sqlite'
import { DataFolderInUseError, isBusy, LOCK_WAIT_MS } from './folder-lock.ts'
import { migrate } from './migrate.ts'

export type { Database } from 'bun:sqlite'

/** The page cache: 16 MiB, enough for the ends of all tables, where rows are appended. */
const CACHE_KIB = 16_384
/** While a backup is written, the write-ahead log grows. Afterwards it is cut to this: 64 MiB. */
const JOURNAL_BYTES = 67_108_864

/**
 * Opens the database file, creates it if it is missing, and applies new migrations. The caller has locked its folder,
 * so no other connection writes; others may read. Throws `DataFolderInUseError` while another program locks the file
 * itself, as earlier versions do, and an Error with a message for the operator if the file is not a database or was
 * written by a newer version.
 *
 * Integers are read as bigints. Reads may use the handle at any time and see only committed data, because a transaction
 * ends in the turn of the event loop in which it began. Every write goes through `GroupCommit.run`.
 */
export function openDatabase({ path }: { readonly path: string }): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // An existing folder may be readable by others. SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600))
  const database = opened(path)
  try {
    startWriting(database, path)
    // FULL: an answered commit survives a power failure, not only a crash of the process.
    database.run('PRAGMA synchronous = FULL')
    database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
    database.run(`PRAGMA journal_size_limit = ${JOURNAL_BYTES}`)
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

/** Makes sure that the file can be written, before anything is read. */
function startWriting(database: Database, path: string): void {
  try {
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)
    database.run('PRAGMA journal_mode = WAL')
    database.run('BEGIN IMMEDIATE')
    database.run('COMMIT')
  } catch (error) {
    throw isBusy(error) ? new DataFolderInUseError(dirname(path), error) : unusable(path, error)
  }
}

function unusable(path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`The database ${path} cannot be used: ${reason}.`, { cause })
}
