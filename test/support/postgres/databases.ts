import { SQL } from 'bun'
import { connections, type Connections } from '../../../src/stores/postgres/database/database.ts'
import { migrate } from '../../../src/stores/postgres/database/migrate.ts'
import type { PostgresServer } from './server.ts'

/**
 * One more partition up to the end of a later year, because tests set their clocks months ahead. A partition for each
 * of these months would make every new connection, statement and database slower.
 */
const LAST_YEAR = new Date().getUTCFullYear() + 4

/** More than one test makes. */
const DATABASES_KEPT = 16
/** What three nodes have. Some tests open dozens, and a server has a limited number. */
const KEPT_MAX = { pools: 3, connections: 9 }

let made = 0
const templates = new WeakMap<PostgresServer, Promise<string>>()

/** The URL of a new database with the tables of the store. */
export async function aDatabase(server: PostgresServer): Promise<string> {
  let template = templates.get(server)
  if (template === undefined) templates.set(server, (template = makeTemplate(server)))
  return anEmptyDatabase(server, `TEMPLATE ${await template}`)
}

/** The URL of a new database. It is dropped when no test can use it any more, so that memory has room for all. */
export async function anEmptyDatabase(server: PostgresServer, options = ''): Promise<string> {
  made += 1
  const name = `test_${made}`
  await withAdmin(server, async sql => {
    await sql.unsafe(`CREATE DATABASE ${name} ${options}`)
    if (made % DATABASES_KEPT === 0) await dropUnused(sql)
  })
  return server.url(name)
}

/** Drops the databases that no connection uses, except for the last ones. */
async function dropUnused(admin: SQL): Promise<void> {
  const unused = await admin<{ name: string }[]>`
    SELECT datname AS name FROM pg_database LEFT JOIN pg_stat_activity USING (datname)
      WHERE datname ~ '^test_[0-9]+$' AND substr(datname, 6)::integer <= ${made - DATABASES_KEPT} AND pid IS NULL`
  for (const { name } of unused) await admin.unsafe(`DROP DATABASE ${name}`)
}

/** The URL of a copy of a database that no connection uses, as a backup of it would be restored. */
export function aCopyOf(url: string, server: PostgresServer): Promise<string> {
  return anEmptyDatabase(server, `TEMPLATE ${new URL(url).pathname.slice(1)}`)
}

/**
 * Empties a database and keeps the rows that its migrations wrote. Only a superuser may skip the triggers. Tables
 * without a page are left alone, because opening each of them takes longer than emptying those that a test has used.
 */
const RESET = `
  DO $$
  DECLARE
    v_table text;
  BEGIN
    FOR v_table IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname <> 'migrations' AND pg_relation_size(oid) > 0 LOOP
      EXECUTE format('DELETE FROM %I', v_table);
    END LOOP;
    FOR v_table IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace('initial') LOOP
      EXECUTE format('INSERT INTO %I SELECT * FROM initial.%I', v_table, v_table);
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
  readonly #free: ReusedDatabase[] = []
  readonly #taken: ReusedDatabase[] = []

  constructor(server: PostgresServer) {
    this.#server = server
  }

  /** An empty database. */
  async take(): Promise<ReusedDatabase> {
    const database = this.#free.pop() ?? (await aReusedDatabase(this.#server))
    this.#taken.push(database)
    return database
  }

  /** Empties the databases that were taken. Nothing may use them any more. */
  async giveBack(): Promise<void> {
    for (const database of this.#taken.splice(0)) {
      await database.owner.unsafe(RESET)
      this.#free.push(database)
    }
  }
}

/** The connection that empties it stays open, because a new one would first have to read what tables there are. */
type ReusedDatabase = { readonly url: string; readonly connections: Connections; readonly owner: SQL }

async function aReusedDatabase(server: PostgresServer): Promise<ReusedDatabase> {
  const url = await aDatabase(server)
  const owner = new SQL(url, { max: 1 })
  await owner.unsafe('SET session_replication_role = replica')
  return { url, connections: keptConnections(connections({ url })), owner }
}

/**
 * Connections that are not closed but kept for the next node. A new one costs the server more than a test does: it
 * reads what tables there are and plans each statement. A node leaves nothing in its session that the next one could
 * see.
 */
export function keptConnections({ openReads, connect }: Connections): Connections {
  const keeping = (open: () => SQL, max: number) => {
    const free: SQL[] = []
    return () => {
      const sql = free.pop() ?? open()
      let isClosed = false
      const close = async () => {
        if (isClosed) return
        isClosed = true
        if (free.length < max) free.push(sql)
        else await sql.close()
      }
      return new Proxy(sql, {
        get: (_, name) => (name === 'close' ? close : (sql[name as keyof SQL] as unknown)),
      })
    }
  }
  return {
    openReads: keeping(openReads, KEPT_MAX.pools),
    connect: keeping(connect, KEPT_MAX.connections),
  }
}

/** Adds one partition from the end of the last one to the end of the last year. */
const ADD_LAST_PARTITIONS = `
  DO $$
  DECLARE
    v_table text;
    v_last text;
  BEGIN
    FOREACH v_table IN ARRAY ARRAY['operations', 'charges'] LOOP
      SELECT max(relname) INTO v_last FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = v_table::regclass AND relname ~ '_[0-9]{4}_[0-9]{2}$';
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s)',
        v_table || '_${LAST_YEAR}_12', v_table,
        first_key(to_date(right(v_last, 7), 'YYYY_MM') + interval '1 month'),
        first_key('${LAST_YEAR + 1}-01-01'));
    END LOOP;
  END $$`

/** Copying a database is faster than making its tables. */
async function makeTemplate(server: PostgresServer): Promise<string> {
  await withAdmin(server, sql => sql.unsafe('CREATE DATABASE tollgate_template'))
  const sql = new SQL(server.url('tollgate_template'), { max: 1 })
  await migrate(sql)
  await sql.unsafe(ADD_LAST_PARTITIONS)
  await sql.unsafe(KEEP_INITIAL_ROWS)
  await sql.close()
  return 'tollgate_template'
}

async function withAdmin(server: PostgresServer, use: (sql: SQL) => Promise<unknown>): Promise<void> {
  const sql = new SQL(server.url('postgres'), { max: 1 })
  await use(sql)
  await sql.close()
}
