import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { farFromMidnight } from '../../../../test/support/far-from-midnight.ts'
import { aDatabase, anEmptyDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { grantUse, migrate } from './migrate.ts'

const server = await runServer()
const NOT_ADDITIVE = '-- Gateways before migration 0002 have to drain.'
const LANES = 'CREATE TABLE lanes (number bigint, label text, migration bigint, seen_at_ms bigint)'
/** In the year 2255. */
const FAR_MS = 9_000_000_000_000
const opened: SQL[] = []

function connect(url: string): SQL {
  const sql = new SQL({ url, bigint: true, max: 1 })
  opened.push(sql)
  return sql
}

/** A connection to a new database. With tables, it has those of the store. */
async function open({ withTables }: { readonly withTables: boolean }): Promise<SQL> {
  return connect(withTables ? await aDatabase(server!) : await anEmptyDatabase(server!))
}

function aFolderWith(scripts: Readonly<Record<string, string>>): string {
  const folder = aDataFolder()
  for (const [name, script] of Object.entries(scripts)) writeFileSync(join(folder, name), script)
  return folder
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(sql => sql.close()))
})

describe.skipIf(server === undefined)('the migrations of PostgreSQL', () => {
  test('two starts at the same time apply each migration of PostgreSQL once', async () => {
    const url = await anEmptyDatabase(server!)
    const folder = aFolderWith({
      '0001_runs.sql': 'CREATE TABLE runs (at integer); INSERT INTO runs VALUES (1)',
    })
    const [one, other] = [connect(url), connect(url)]

    await Promise.all([migrate(one, folder), migrate(other, folder)])

    const rows = await one<{ at: number }[]>`SELECT at FROM runs`
    expect(rows).toHaveLength(1)
  })

  test('a migration of PostgreSQL that fails is not recorded, and can be applied again', async () => {
    const sql = await open({ withTables: false })
    const script = 'CREATE TABLE runs (at integer)'
    const broken = aFolderWith({ '0001_runs.sql': `${script}; SELECT 1 / 0` })

    const error = await rejection(migrate(sql, broken))
    await migrate(sql, aFolderWith({ '0001_runs.sql': script }))

    expect(error).toBeInstanceOf(SQL.PostgresError)
    expect(await sql`SELECT * FROM runs`).toHaveLength(0)
  })

  test('a migration of PostgreSQL that has changed since it was applied is refused', async () => {
    const sql = await open({ withTables: false })
    await migrate(sql, aFolderWith({ '0001_runs.sql': 'CREATE TABLE runs (at integer)' }))

    const error = await rejection(
      migrate(sql, aFolderWith({ '0001_runs.sql': 'CREATE TABLE runs (at bigint)' })),
    )

    expect(String(error)).toContain('Migration 0001_runs.sql has changed since it was applied')
  })

  test('the migrations of a newer version stay, so that an older version can run beside it', async () => {
    const sql = await open({ withTables: false })
    const first = { '0001_runs.sql': 'CREATE TABLE runs (at integer)' }
    await migrate(sql, aFolderWith({ ...first, '0002_more.sql': 'ALTER TABLE runs ADD COLUMN more integer' }))

    await migrate(sql, aFolderWith(first))

    expect(await sql`SELECT name FROM migrations`).toHaveLength(2)
  })

  test('a build that does not know a migration that is not additive does not start', async () => {
    const sql = await open({ withTables: false })
    const first = { '0001_runs.sql': 'CREATE TABLE runs (at integer)' }
    const newer = { ...first, '0002_more.sql': `${NOT_ADDITIVE}\nALTER TABLE runs ADD COLUMN more integer` }
    await migrate(sql, aFolderWith(newer))

    const older = await rejection(migrate(sql, aFolderWith(first)))
    await migrate(sql, aFolderWith(newer))

    expect(String(older)).toContain(
      'This gateway is too old for the database, which was changed for gateways that know migration 2. It knows the migrations until 1.',
    )
  })

  test('what older gateways use is dropped when they are stopped', async () => {
    const sql = await open({ withTables: false })
    const first = { '0001_lanes.sql': LANES }
    const second = { ...first, '0002_more.sql': NOT_ADDITIVE }
    await migrate(sql, aFolderWith(first))
    await sql`INSERT INTO lanes VALUES (1, 'old', 1, ${FAR_MS}), (2, 'stopped', 1, 0), (3, 'new', 2, ${FAR_MS})`

    await migrate(sql, aFolderWith(second))
    const third = aFolderWith({ ...second, '0003_less.sql': 'ALTER TABLE lanes DROP COLUMN label' })
    const refused = await rejection(migrate(sql, third))
    await sql`UPDATE lanes SET seen_at_ms = 0 WHERE label = 'old'`
    await migrate(sql, third)

    expect(String(refused)).toContain(
      'Migration 0003_less.sql waits for gateways that are too old for the database and drain: old. Stop them',
    )
    expect(await sql`SELECT name FROM migrations`).toHaveLength(3)
  })

  test('a role that owns no tables can use them, and can change neither the schema nor rows that only grow', async () => {
    const { owner, runtime } = await withRoles()
    await migrate(owner)
    await grantUse(owner, 'gate')
    await grantUse(owner, 'gate')

    await migrate(runtime)
    const [lane] = await runtime`SELECT number FROM claim_lane_v1('a', '1', 11, 1000, NULL)`
    await runtime`SELECT add_partitions(4)`
    const refused = []
    for (const text of [
      'CREATE TABLE mine (at integer)',
      'DROP TABLE charges',
      'ALTER TABLE balances ADD COLUMN mine integer',
      'UPDATE charges SET cost = 0',
      'DELETE FROM operations',
      'TRUNCATE audit_log',
      'ALTER TABLE charges DISABLE TRIGGER ALL',
      'UPDATE migrations SET checksum = 0',
    ])
      refused.push(((await rejection(runtime.unsafe(text))) as SQL.PostgresError).errno)

    expect(lane).toEqual({ number: 1n })
    expect(refused).toEqual(Array.from({ length: refused.length }, () => '42501'))
  })

  test.each([
    ['add_partitions', 'SELECT add_partitions(4)'],
    ['bound_requests_v1', 'SELECT bound_requests_v1(1, 1, 1, NULL)'],
  ])('a role that owns no tables cannot have %s use its temporary tables instead', async (_, call) => {
    const { owner, runtime } = await withRoles()
    await migrate(owner)
    await grantUse(owner, 'gate')
    await owner.unsafe(insertOf('charges'))
    await runtime.unsafe(TAKE_OVER)
    // Records that the part of the newest records is full.
    await runtime`SELECT nextval('request_numbers') FROM generate_series(1, 9)`

    await runtime.unsafe(call)

    const [found] = await owner<object[]>`
      SELECT has_table_privilege('gate', 'charges', 'UPDATE') AS "canChange", cost FROM charges`
    expect(found).toEqual({ canChange: false, cost: 1n })
  })

  test('each function that runs as the owner sees temporary tables last, and only the role of the gateway calls it', async () => {
    const { owner } = await withRoles()
    await migrate(owner)
    await grantUse(owner, 'gate')

    const found = await owner<object[]>`
      SELECT proname, array_to_string(proconfig, ';') ~ '(^|;)search_path=public, pg_temp(;|$)' AS "isSafe",
          has_function_privilege('gate', oid, 'EXECUTE') AS "isForGate",
          has_function_privilege('pg_monitor', oid, 'EXECUTE') AS "isForOthers"
        FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY proname`

    const safe = { isSafe: true, isForGate: true, isForOthers: false }
    expect([...found]).toEqual([
      { proname: 'add_partitions', ...safe },
      { proname: 'bound_requests_v1', ...safe },
    ])
  })

  test('a role without rights on the tables is told which setting gives them', async () => {
    const { owner, runtime } = await withRoles()
    await migrate(owner)

    const error = await rejection(migrate(runtime))

    expect(String(error)).toContain(
      'The role of TOLLGATE_DATABASE_URL may not use the tables of the database',
    )
    expect(String(error)).toContain('Set TOLLGATE_DATABASE_OWNER_URL to the role that owns them')
  })

  test('a role that may not apply a migration is told which role may', async () => {
    const { owner, runtime } = await withRoles()
    const first = { '0001_runs.sql': 'CREATE TABLE runs (at integer)' }
    await migrate(owner, aFolderWith(first))
    await grantUse(owner, 'gate')

    const error = await rejection(
      migrate(
        runtime,
        aFolderWith({ ...first, '0002_more.sql': 'ALTER TABLE runs ADD COLUMN more integer' }),
      ),
    )

    expect(String(error)).toContain(
      'The database lacks migration 0002_more.sql, and the role of TOLLGATE_DATABASE_URL may not apply it',
    )
  })
})

describe.skipIf(server === undefined)('the tables of PostgreSQL', () => {
  test.each(['operations', 'charges', 'tariffs', 'commits'])(
    'rows of the table %s are never changed or deleted in PostgreSQL',
    async table => {
      const sql = await open({ withTables: true })
      await sql.unsafe(insertOf(table))

      const changed = await rejection(sql.unsafe(`UPDATE ${table} SET id = id + 1`))
      const deleted = await rejection(sql.unsafe(`DELETE FROM ${table}`))

      for (const error of [changed, deleted]) expect(String(error)).toContain('never changed or deleted')
    },
  )

  test('charges are refused in their partition, too, if they are changed in it', async () => {
    const sql = await open({ withTables: true })
    await sql.unsafe(insertOf('charges'))

    const error = await rejection(sql.unsafe('UPDATE charges_before SET cost = 0'))

    expect(String(error)).toContain('charges are never changed or deleted')
  })

  test('each month has a partition, and adding them again changes nothing', async () => {
    await farFromMidnight()
    const sql = await open({ withTables: false })
    await migrate(sql)
    const nextMonths = await partitionsOf(sql)

    await sql`SELECT add_partitions(5, clock_timestamp())`
    const later = await partitionsOf(sql)
    await sql`SELECT add_partitions(5, clock_timestamp())`

    expect(later).toHaveLength(nextMonths.length + 2 * 2)
    expect(await partitionsOf(sql)).toEqual(later)
  })

  test('a charge goes to the partition of the month in which its id was made', async () => {
    const sql = await open({ withTables: true })
    const now = new Date()
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 1))
    const keys = [month.getTime() - 1, month.getTime()].map(atMs => BigInt(atMs) << 16n)

    for (const key of keys) await sql.unsafe(insertOf('charges', key))

    const rows = await sql<
      { partition: string }[]
    >`SELECT tableoid::regclass::text AS partition FROM charges ORDER BY id_key`
    const names = [new Date(month.getTime() - 1), month].map(
      date => `charges_${date.toISOString().slice(0, 7).replace('-', '_')}`,
    )
    expect(rows.map(({ partition }) => partition)).toEqual(names)
  })

  test('a charge after the last partition is refused, and its batch is not lost in another table', async () => {
    const sql = await open({ withTables: true })

    const error = await rejection(sql.unsafe(insertOf('charges', 2n ** 62n)))

    expect(String(error)).toContain('no partition of relation "charges"')
  })
})

/** Inserts a row of a table. The key of a charge can be replaced. */
function insertOf(table: string, idKey = 1n): string {
  return inserts[table]!.replace('ID_KEY', String(idKey))
}

const inserts: Readonly<Record<string, string>> = {
  operations: `INSERT INTO operations (id, account_id, number, kind, subject_key, subject_tail, amount, at_ms, book_1,
    amount_1, balance_after_1, book_2, amount_2, balance_after_2, commit_id)
    VALUES (1, 1, 1, 'top_up', 1, 1, 1, 1, 'cash', -1, -1, 'available', 1, 1, 1)`,
  charges: `INSERT INTO charges (id, id_key, id_tail, account_id, api_key_id, route, model, provider, input, cached_input,
    cache_write, audio_input, output, reasoning, audio_output, is_clamped, cost, shortfall, at_ms, commit_id)
    VALUES (1, ID_KEY, 1, 1, 1, 'chat', 'm', 'p', 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1)`,
  tariffs: "INSERT INTO tariffs (id, content, commit_id) VALUES (1, '{}', 1)",
  commits: `INSERT INTO nodes (id, name) VALUES (1, 'lane-1');
    INSERT INTO commits (id, node_id, number, checksums, hash) VALUES (1, 1, 1, '', decode(repeat('00', 32), 'hex'))`,
}

async function partitionsOf(sql: SQL): Promise<readonly string[]> {
  const rows = await sql<
    { name: string }[]
  >`SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent IN ('charges'::regclass, 'operations'::regclass) ORDER BY relname`
  return rows.map(({ name }) => name)
}

/** Tries to run statements as the owner of a function, through triggers and views of temporary tables of its caller. */
const TAKE_OVER = `
  CREATE FUNCTION pg_temp.take_over() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF current_user = 'gate' THEN RETURN; END IF;
    ALTER TABLE public.charges DISABLE TRIGGER ALL;
    UPDATE public.charges SET cost = 999;
    GRANT ALL ON public.charges TO gate;
  END $$;
  CREATE FUNCTION pg_temp.taking() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_temp.take_over(); RETURN NEW; END';
  CREATE TEMP TABLE request_parts (number bigint, began_at_ms bigint, last_before bigint);
  INSERT INTO request_parts VALUES (900, 0, 0);
  CREATE TEMP TABLE requests_900 (at bigint);
  CREATE TRIGGER taking BEFORE INSERT ON request_parts FOR EACH ROW EXECUTE FUNCTION pg_temp.taking();
  CREATE TEMP VIEW pg_inherits AS SELECT i.* FROM pg_catalog.pg_inherits i, pg_temp.take_over();
  GRANT ALL ON pg_temp.request_parts, pg_temp.pg_inherits TO PUBLIC`

/** A new database of one role, and another role that may only connect to it. */
async function withRoles() {
  const url = new URL(await anEmptyDatabase(server!))
  const admin = connect(url.href)
  await admin.unsafe(`
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gate') THEN
        CREATE ROLE owns LOGIN PASSWORD 'word';
        CREATE ROLE gate LOGIN PASSWORD 'word';
      END IF;
    END $$`)
  await admin.unsafe(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO owns`)
  const as = (role: string) => {
    const own = new URL(url)
    own.username = role
    own.password = 'word'
    return connect(own.href)
  }
  return { owner: as('owns'), runtime: as('gate') }
}
