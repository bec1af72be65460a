import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { anEmptyDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { databaseAddress } from '../../config/forms/servers.ts'
import type { DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { openPostgresStore, useAsOwner } from './store.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function connect(url: string): SQL {
  const sql = new SQL({ url, max: 1 })
  ends.push(() => sql.close())
  return sql
}

/** An empty database of one role, and a role that may only connect to it. */
async function aDatabaseOfTwo() {
  const url = new URL(await anEmptyDatabase(server!))
  const name = url.pathname.slice(1)
  const owner = `owner_of_${name}`
  const gateway = `gateway_of_${name}`
  const admin = connect(url.href)
  for (const role of [owner, gateway]) await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'word'`)
  await admin.unsafe(`ALTER DATABASE ${name} OWNER TO ${owner}`)
  const as = (user: string): DatabaseServer => ({
    ...databaseAddress.parse(url.href)!,
    user,
    password: 'word',
  })
  return {
    name,
    owner: as(owner),
    gateway: as(gateway),
    tables: () => admin`SELECT FROM pg_tables WHERE schemaname = 'public'`,
  }
}

async function open(database: DatabaseServer, databaseOwner?: DatabaseServer) {
  const store = await openPostgresStore({
    database,
    databaseOwner,
    name: 'one',
    version: '1',
    clock: systemClock,
    random64: () => crypto.getRandomValues(new BigInt64Array(1))[0]!,
    secretKey: new Uint8Array(32),
  })
  ends.push(() => store.close())
  return store
}

describe.skipIf(server === undefined)('the two roles of a database', () => {
  test('the owner makes the tables, and a role without rights on them uses them, by another name of the host', async () => {
    const { owner, gateway } = await aDatabaseOfTwo()

    const store = await open({ ...gateway, host: 'localhost' }, owner)

    expect(await store.nodes.list()).toHaveLength(1)
    expect(await store.warning()).toBeUndefined()
  })

  test('a gateway whose role owns the tables is warned', async () => {
    const { owner } = await aDatabaseOfTwo()

    const store = await open(owner)

    expect(await store.warning()).toContain(`The role ${owner.user} of TOLLGATE_DATABASE_URL owns the tables`)
  })

  test('an owner of another database is refused before anything is written to either', async () => {
    const [one, other] = [await aDatabaseOfTwo(), await aDatabaseOfTwo()]
    const settings = { database: one.gateway, databaseOwner: other.owner }

    const started = await rejection(open(settings.database, settings.databaseOwner))
    const copied = await rejection(useAsOwner(settings, () => Promise.resolve()))

    expect(String(started)).toContain('TOLLGATE_DATABASE_URL and TOLLGATE_DATABASE_OWNER_URL name different')
    expect(String(started)).toContain(
      `${one.name} on 127.0.0.1, port ${one.owner.port}, and ${other.name} on`,
    )
    expect(String(copied)).toBe(String(started))
    expect(await one.tables()).toHaveLength(0)
    expect(await other.tables()).toHaveLength(0)
  })
})
