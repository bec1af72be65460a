import type { SQL } from 'bun'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'migrations')
const FILE_NAME = /^(\d{4})_[a-z_]+\.sql$/
/** The number of the lock that migrations take, so that two starts at once apply each of them once. */
const LOCK = 7_046_029_254_386_353n
/** A migration that cannot get its locks fails instead of stopping the gateways that run. */
const LOCK_TIMEOUT = '2s'

type Migration = {
  readonly number: number
  readonly name: string
  readonly script: string
  readonly checksum: string
}

/**
 * Applies the numbered SQL files that were not applied yet, in order, each in one transaction with the record of it.
 * Throws an Error for the operator if an applied file has changed. A migration that only a newer version has is left as
 * it is, because versions run together while they are upgraded.
 */
export async function migrate(sql: SQL, folder: string = FOLDER): Promise<void> {
  for (const migration of readMigrations(folder))
    await sql.begin(async transaction => {
      await transaction`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`
      await transaction`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
      await apply(transaction, migration)
    })
}

async function apply(sql: SQL, { number, name, script, checksum }: Migration): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`
  const applied = await sql<{ checksum: string }[]>`SELECT checksum FROM migrations WHERE number = ${number}`
  if (applied[0] === undefined) {
    await sql.unsafe(script)
    await sql`INSERT INTO migrations (number, name, checksum) VALUES (${number}, ${name}, ${checksum})`
  } else if (applied[0].checksum !== checksum)
    throw new Error(
      `Migration ${name} has changed since it was applied to the database. Install the released version again.`,
    )
}

function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .sort()
    .map((name, index) => {
      const number = Number(FILE_NAME.exec(name)?.[1])
      if (number !== index + 1)
        throw new Error(
          `${name} is not migration ${index + 1}: they are numbered 0001, 0002, … without a gap.`,
        )
      const script = readFileSync(join(folder, name), 'utf8')
      return { number, name, script, checksum: createHash('sha256').update(script).digest('hex') }
    })
}
