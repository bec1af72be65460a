import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'bun:sqlite'

const FOLDER = join(import.meta.dirname, 'migrations')
const FILE_NAME = /^(\d{4})_[a-z_]+\.sql$/

type Migration = {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/**
 * Applies the numbered SQL files that the database has not seen, in order, each in one transaction with the record that
 * it was applied. Throws an Error for the operator when a file that was applied has changed since, or when the database
 * knows one that this version does not.
 */
export function migrate(database: Database, folder: string = FOLDER): void {
  database.run(`CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at_ms INTEGER NOT NULL
  ) STRICT`)
  const migrations = readMigrations(folder)
  const applied = database
    .query<{ number: bigint; name: string; checksum: string }, []>('SELECT * FROM migrations ORDER BY number')
    .all()
  for (const { number, name, checksum } of applied) {
    const known = migrations.find(migration => migration.number === Number(number))
    if (known === undefined)
      throw new Error(
        `The data folder was last used by a newer version of tollgate (it has migration ${name}). Run that version, or restore a backup.`,
      )
    if (known.checksum !== checksum)
      throw new Error(
        `Migration ${name} is not the one the data folder was made with: an applied migration must never change. Install the released version again.`,
      )
  }
  for (const migration of migrations.slice(applied.length)) apply(database, migration)
}

function readMigrations(folder: string): readonly Migration[] {
  const names = readdirSync(folder).sort()
  return names.map((name, index) => {
    const number = Number(FILE_NAME.exec(name)?.[1])
    if (number !== index + 1)
      throw new Error(`${name} is not migration ${index + 1}: they are numbered 0001, 0002, … without a gap.`)
    const sql = readFileSync(join(folder, name), 'utf8')
    return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

function apply(database: Database, { number, name, sql, checksum }: Migration): void {
  database.transaction(() => {
    database.run(sql)
    database
      .query('INSERT INTO migrations (number, name, checksum, applied_at_ms) VALUES (?, ?, ?, ?)')
      .run(number, name, checksum, Date.now())
  })()
}
