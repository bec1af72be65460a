import { SQL } from 'bun'
import { migrate } from '../../../src/stores/postgres/migrate.ts'
import type { PostgresServer } from './server.ts'

/** The tests set their clocks to a time in 2027. */
const PARTITION_MONTHS = 24

let made = 0
const templates = new WeakMap<PostgresServer, Promise<string>>()

/** The URL of a new database with the tables of the store. */
export async function aDatabase(server: PostgresServer): Promise<string> {
  let template = templates.get(server)
  if (template === undefined) templates.set(server, (template = makeTemplate(server)))
  return anEmptyDatabase(server, `TEMPLATE ${await template}`)
}

/** The URL of a new database. */
export async function anEmptyDatabase(server: PostgresServer, options = ''): Promise<string> {
  made += 1
  const name = `test_${made}`
  await withAdmin(server, sql => sql.unsafe(`CREATE DATABASE ${name} ${options}`))
  return server.url(name)
}

/** Copying a database is faster than making its tables. */
async function makeTemplate(server: PostgresServer): Promise<string> {
  await withAdmin(server, sql => sql.unsafe('CREATE DATABASE tollgate_template'))
  const sql = new SQL(server.url('tollgate_template'), { max: 1 })
  await migrate(sql)
  await sql`SELECT add_partitions(${PARTITION_MONTHS})`
  await sql.close()
  return 'tollgate_template'
}

async function withAdmin(server: PostgresServer, use: (sql: SQL) => Promise<unknown>): Promise<void> {
  const sql = new SQL(server.url('postgres'), { max: 1 })
  await use(sql)
  await sql.close()
}
