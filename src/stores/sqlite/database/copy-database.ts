import { closeSync, openSync } from 'node:fs'
import { Database } from 'bun:sqlite'

/**
 * Copies what is committed in a database into a new file. A read connection sees one state of the database while other
 * connections write. Their writes are kept in the write-ahead log until the copy is done. Blocks its thread. The copy
 * is not durable yet.
 */
export function copyDatabase({ from, to }: { readonly from: string; readonly to: string }): void {
  // SQLite fills an empty file, and would give a new one the mode of the process.
  closeSync(openSync(to, 'wx', 0o600))
  const reader = new Database(from, { readonly: true })
  try {
    reader.query('VACUUM INTO ?').run(to)
  } finally {
    reader.close(true)
  }
}

/**
 * Describes the books in a file that nothing writes. Throws an Error for the operator if they are not books of
 * Tollgate.
 */
export function describeBooks(path: string): { readonly commits: number } {
  const reader = new Database(path, { readonly: true })
  try {
    const first = reader.query<{ name: string }, []>('SELECT name FROM migrations WHERE number = 1').get()
    if (first?.name !== FIRST_MIGRATION) throw new Error(`The first migration is ${String(first?.name)}.`)
    const row = hasCommits(reader)
      ? reader.query<{ commits: number | null }, []>('SELECT max(number) AS commits FROM commits').get()
      : null
    return { commits: row?.commits ?? 0 }
  } catch (cause) {
    throw new Error(`${path} has no books of Tollgate.`, { cause })
  } finally {
    reader.close(true)
  }
}

const FIRST_MIGRATION = '0001_books.sql'

/** Books of the first versions had no commits. */
function hasCommits(reader: Database): boolean {
  const table = reader.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'commits'").get()
  return table !== null
}
