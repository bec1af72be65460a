import type { SQL } from 'bun'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LANE_TTL_MS } from '../lanes/lane.ts'
import { meaningOf } from './database-errors.ts'

const FOLDER = join(import.meta.dirname, '../migrations')
const FILE_NAME = /^(\d{4})_[a-z_]+\.sql$/
/** A line of a migration that gateways of earlier versions cannot work with for long. */
const NOT_ADDITIVE = /^-- Gateways before migration (\d{4}) have to drain\.$/m
/** The number of the lock that migrations take. */
const LOCK = 7_046_029_254_386_353n
/** A migration that cannot get its locks fails instead of stopping the gateways that run. */
const LOCK_TIMEOUT = '2s'

type Migration = {
  readonly number: number
  readonly name: string
  readonly script: string
  readonly checksum: string
  /** Gateways that do not know this migration drain. 0 for a migration that only adds to the tables. */
  readonly minNumber: number
}

/**
 * Applies the numbered SQL files that were not applied yet, in order, each in one transaction with the record of it.
 * Throws an Error for the operator if an applied file has changed, or if the role may not change the tables. A
 * migration that only a newer version has is left as it is, because versions run together while they are upgraded,
 * unless it made this version drain. If nothing is missing, it only reads, so that a role without any right to change
 * tables can start a gateway.
 */
export async function migrate(sql: SQL, folder: string = FOLDER): Promise<void> {
  const known = readMigrations(folder)
  const missing = await missingOf(sql, known)
  if (missing.length < known.length) {
    const problem = tooOldProblem(Number((await sql.unsafe(MIN_MIGRATION))[0].min), known.length)
    if (problem !== undefined) throw new Error(problem)
  }
  for (const migration of missing)
    await sql
      .begin(async transaction => {
        await takeLock(transaction)
        await transaction`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
        await apply(transaction, migration)
      })
      .catch((error: unknown) => {
        throw meaningOf(error) === 'not allowed' ? notAllowed(migration, error as Error) : error
      })
}

/** The number of the last migration that this build knows. */
export function lastMigration(folder: string = FOLDER): number {
  return readdirSync(folder).length
}

/** The smallest last migration of a gateway that may start. */
const MIN_MIGRATION = 'SELECT coalesce(max(min_number), 0) AS min FROM migrations'

/** Why a gateway may not begin paid work, if the last migration that it knows is below the smallest. */
export function tooOldProblem(min: number, known: number): string | undefined {
  if (known >= min) return undefined
  return `This gateway is too old for the database, which was changed for gateways that know migration ${min}. It knows the migrations until ${known}. Install the version of the other gateways.`
}

async function missingOf(sql: SQL, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const [found] = await sql<{ isThere: boolean }[]>`SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`
  if (found?.isThere !== true) return migrations
  const applied = await sql<
    { number: bigint; checksum: string }[]
  >`SELECT number, checksum FROM migrations`.catch((error: unknown) => {
    throw meaningOf(error) === 'not allowed' ? noRights(error as Error) : error
  })
  const checksums = new Map(applied.map(({ number, checksum }) => [Number(number), checksum]))
  return migrations.filter(migration => !isApplied(migration, checksums.get(migration.number)))
}

async function apply(sql: SQL, migration: Migration): Promise<void> {
  const { number, name, script, checksum, minNumber } = migration
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, min_number bigint NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`
  const [applied] = await sql<
    { checksum: string }[]
  >`SELECT checksum FROM migrations WHERE number = ${number}`
  // Another start may have applied it a moment ago.
  if (isApplied(migration, applied?.checksum)) return
  await refuseBesideOlder(sql, name)
  await sql.unsafe(script)
  await sql`INSERT INTO migrations (number, name, checksum, min_number)
    VALUES (${number}, ${name}, ${checksum}, ${minNumber})`
}

/**
 * A migration that makes older gateways drain leaves all that they use. What only they use is dropped by a later one,
 * so none is applied while they run.
 */
async function refuseBesideOlder(sql: SQL, name: string): Promise<void> {
  const [{ min }] = await sql.unsafe<[{ min: bigint }]>(MIN_MIGRATION)
  if (Number(min) === 0) return
  const older = await sql<{ label: string }[]>`
    SELECT label FROM lanes WHERE migration < ${min}
      AND seen_at_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${LANE_TTL_MS} ORDER BY number`
  if (older.length === 0) return
  const labels = older.map(({ label }) => label).join(', ')
  throw new Error(
    `Migration ${name} waits for gateways that are too old for the database and drain: ${labels}. Stop them, and start this one again. One that was killed counts as stopped after two minutes.`,
  )
}

/** Throws if another script was applied under its number. */
function isApplied({ name, checksum }: Migration, applied: string | undefined): boolean {
  if (applied === undefined) return false
  if (applied === checksum) return true
  throw new Error(
    `Migration ${name} has changed since it was applied to the database. Install the released version again.`,
  )
}

function notAllowed({ name }: Migration, cause: Error): Error {
  return new Error(
    `The database lacks migration ${name}, and the role of TOLLGATE_DATABASE_URL may not apply it (${cause.message}). Set TOLLGATE_DATABASE_OWNER_URL to the role that owns the tables.`,
    { cause },
  )
}

function noRights(cause: Error): Error {
  return new Error(
    `The role of TOLLGATE_DATABASE_URL may not use the tables of the database (${cause.message}). Set TOLLGATE_DATABASE_OWNER_URL to the role that owns them: the start then gives the other role its rights.`,
    { cause },
  )
}

/**
 * Lets another role than the owner read and write the rows, and nothing more: it cannot change the schema, nor change
 * or delete rows of tables that only grow. Repeating it adds the tables and functions of later migrations.
 */
export async function grantUse(owner: SQL, role: string): Promise<void> {
  await owner.begin(async sql => {
    await takeLock(sql)
    const [names] = await sql<{ role: string; schema: string }[]>`
      SELECT quote_ident(${role}) AS role, quote_ident(current_schema()) AS schema`
    if (names === undefined) return
    await sql.unsafe(`GRANT USAGE ON SCHEMA ${names.schema} TO ${names.role}`)
    await sql.unsafe(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${names.schema} TO ${names.role}`)
    for (const { name, rights } of await tablesWithRights(sql))
      await sql.unsafe(`GRANT ${rights} ON ${name} TO ${names.role}`)
    for (const { name } of await functionsOfOwner(sql))
      await sql.unsafe(`GRANT EXECUTE ON FUNCTION ${name} TO ${names.role}`)
  })
}

/** The functions that run as their owner, whoever calls them. Everybody may call the others. */
function functionsOfOwner(sql: SQL) {
  return sql<{ name: string }[]>`
    SELECT oid::regprocedure::text AS name FROM pg_proc
      WHERE pronamespace = current_schema()::regnamespace AND prosecdef AND pg_has_role(proowner, 'USAGE')`
}

/** Partitions need no rights: they are used through their tables. */
function tablesWithRights(sql: SQL) {
  return sql<{ name: string; rights: string }[]>`
    SELECT quote_ident(relname) AS name, CASE
        WHEN relname = 'migrations' THEN 'SELECT'
        WHEN EXISTS (
          SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgfoid = to_regproc('refuse_change')
            AND tgtype & 8 > 0 AND tgtype & 16 > 0
        ) THEN 'SELECT, INSERT'
        ELSE 'SELECT, INSERT, UPDATE, DELETE'
      END AS rights
    FROM pg_class c
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname`
}

/** Two starts at once work one after the other. */
async function takeLock(sql: SQL): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`
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
      const checksum = createHash('sha256').update(script).digest('hex')
      return { number, name, script, checksum, minNumber: Number(NOT_ADDITIVE.exec(script)?.[1] ?? 0) }
    })
}
