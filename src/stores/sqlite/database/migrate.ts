import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'bun:sqlite'
import { sealEarlierCreations, sealEarlierRows } from './seal-earlier-rows.ts'

const FOLDER = join(import.meta.dirname, '../migrations')
const FILE_NAME = /^(\d{4})_[a-z_]+\.sql$/

/** The code that completes migrations that need more than SQL, in the same transaction. */
const COMPLETIONS = {
  '0010_commits.sql': sealEarlierRows,
  '0011_covered_creations.sql': sealEarlierCreations,
}

type Migration = {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/**
 * Applies the numbered SQL files that were not applied yet, in order, each in one transaction with the record of it.
 * Throws an Error for the operator if an applied file has changed, or if this version does not have it.
 */
export function migrate(
  database: Database,
  folder: string = FOLDER,
  completions: Readonly<Record<string, (database: Database) => void>> = COMPLETIONS,
): void {
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
        `These books were last used by a newer version of tollgate (they have migration ${name}). Run that version, or restore a backup.`,
      )
    if (known.checksum !== checksum)
      throw new Error(
        `Migration ${name} has changed since it was applied to the data folder. Install the released version again.`,
      )
  }
  for (const migration of migrations.slice(applied.length))
    apply(database, migration, completions[migration.name])
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

function apply(
  database: Database,
  { number, name, sql, checksum }: Migration,
  complete: ((database: Database) => void) | undefined,
): void {
  database.transaction(() => {
    database.run(sql)
    complete?.(database)
    database
      .query('INSERT INTO migrations (number, name, checksum, applied_at_ms) VALUES (?, ?, ?, ?)')
      .run(number, name, checksum, Date.now())
  })()
}
