import { SQL } from 'bun'
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { anEmptyDatabase } from '../../support/postgres/databases.ts'
import { PgBouncer, pgbouncerProgram, SERVER_CONNECTIONS } from '../../support/postgres/pgbouncer.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { until } from '../../support/until.ts'
import { dimeCatalog } from './dime.ts'

const server = await runServer()
const program = server && (await pgbouncerProgram())
const ends: (() => unknown)[] = []

const ASKED_AT_ONCE = 12

/** Two gateways on an empty database, whose owner and user both connect through the pooler. */
async function startGateways() {
  const database = await anEmptyDatabase(server!)
  const pooler = await PgBouncer.start(program!, database)
  ends.push(() => pooler.stop())
  const secret = randomBytes(32).toString('base64')
  const start = (name: string) =>
    startTestGateway({
      catalog: JSON.stringify(dimeCatalog),
      environment: {
        TOLLGATE_DATABASE_URL: pooler.url(database),
        TOLLGATE_DATABASE_OWNER_URL: pooler.url(database),
        TOLLGATE_NODE_NAME: name,
        TOLLGATE_SECRET_KEY: secret,
      },
    })
  const gateways = [await start('one'), await start('other')] as const
  ends.push(() => Promise.all(gateways.map(gateway => gateway.stop())))
  return { database, gateways }
}

const ask = (gateway: TestGateway, key: string) =>
  gateway.chat(key, { model: 'dime', messages: [{ role: 'user', content: 'Hello' }] })

afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

describe.skipIf(program === undefined)('gateways behind PgBouncer in transaction mode, over TLS', () => {
  test('make the tables, charge each answer once, share keys, and keep sound books', async () => {
    const { database, gateways } = await startGateways()
    const [one, other] = gateways
    const ada = await one.account({ grant: '1.2' })
    await until('the other gateway knows the key', async () => (await ask(other, ada.key)).status === 200)

    const replies = await Promise.all(
      Array.from({ length: ASKED_AT_ONCE }, (_, index) => ask(gateways[index % 2]!, ada.key)),
    )
    const statuses = replies.map(({ status }) => status).sort((a, b) => a - b)
    const { data: keys } = await one.admin<{ data: { id: string }[] }>('GET', `accounts/${ada.id}/keys`)
    await one.admin('POST', `keys/${keys[0]!.id}/revoke`)
    await until('the other gateway refuses the key', async () => (await ask(other, ada.key)).status === 401)

    // The money is for 12 answers, and one was given before.
    expect(statuses).toEqual([...Array.from({ length: ASKED_AT_ONCE - 1 }, () => 200), 402])
    expect(await ada.balance()).toMatchObject({ available_usd: '0', held_usd: '0' })
    expect(await other.admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
    // Without the pooler, each gateway has about ten.
    expect(await connectionsTo(database)).toBeLessThanOrEqual(SERVER_CONNECTIONS)
  })
})

/** The connections of clients to a database, without that of this call. The server's own workers are none. */
async function connectionsTo(database: string): Promise<number> {
  const sql = new SQL({ url: database, max: 1 })
  const rows = await sql<object[]>`
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
  await sql.close()
  return rows.length
}
