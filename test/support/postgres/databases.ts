import { SQL } from 'bun'
import { migrate } from '../../../src/stores/postgres/database/migrate.ts'
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

/** The URL of a copy of a database that no connection uses, as a backup of it would be restored. */
export function aCopyOf(url: string, server: PostgresServer): Promise<string> {
  return anEmptyDatabase(server, `TEMPLATE ${new URL(url).pathname.slice(1)}`)
}

/** Empties a database and keeps the rows that its migrations wrote. Only a superuser may skip the triggers. */
const RESET = `
  SET session_replication_role = replica;
  DO $$
  DECLARE
    v_table text;
  BEGIN
    FOR v_table IN SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = 'public'::regnamespace AND relname <> 'migrations' LOOP
      EXECUTE format('DELETE FROM %I', v_table);
      IF to_regclass(format('initial.%I', v_table)) IS NOT NULL THEN
        EXECUTE format('INSERT INTO %I SELECT * FROM initial.%I', v_table, v_table);
      END IF;
    END LOOP;
    PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S';
  END $$`

/** Keeps a copy of the rows of a new database. */
const KEEP_INITIAL_ROWS = `
  CREATE SCHEMA initial;
  DO $$
  DECLARE
    v_table text;
    v_has_rows boolean;
  BEGIN
    FOR v_table IN SELECT relname FROM pg_class WHERE relkind = 'r' AND NOT relispartition
        AND relnamespace = 'public'::regnamespace AND relname <> 'migrations' LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %I)', v_table) INTO v_has_rows;
      IF v_has_rows THEN EXECUTE format('CREATE TABLE initial.%I AS TABLE %I', v_table, v_table); END IF;
    END LOOP;
  END $$`

/** Databases that tests use one after the other: emptying one is faster than making one. */
export class ReusedDatabases {
  readonly #server: PostgresServer
  readonly #free: string[] = []
  readonly #taken: string[] = []

  constructor(server: PostgresServer) {
    this.#server = server
  }

  /** The URL of an empty database. */
  async take(): Promise<string> {
    const url = this.#free.pop() ?? (await aDatabase(this.#server))
    this.#taken.push(url)
    return url
  }

  /** Empties the databases that were taken. Nothing may use them any more. */
  async giveBack(): Promise<void> {
    for (const url of this.#taken.splice(0)) {
      const sql = new SQL(url, { max: 1 })
      await sql.unsafe(RESET)
      await sql.close()
      this.#free.push(url)
    }
  }
}

/** Copying a database is faster than making its tables. */
async function makeTemplate(server: PostgresServer): Promise<string> {
  await withAdmin(server, sql => sql.unsafe('CREATE DATABASE tollgate_template'))
  const sql = new SQL(server.url('tollgate_template'), { max: 1 })
  await migrate(sql)
  await sql`SELECT add_partitions(${PARTITION_MONTHS})`
  await sql.unsafe(KEEP_INITIAL_ROWS)
  await sql.close()
  return 'tollgate_template'
}

async function withAdmin(server: PostgresServer, use: (sql: SQL) => Promise<unknown>): Promise<void> {
  const sql = new SQL(server.url('postgres'), { max: 1 })
  await use(sql)
  await sql.close()
}
