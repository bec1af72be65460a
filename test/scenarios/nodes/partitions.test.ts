import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { farFromMidnight } from '../../support/far-from-midnight.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { anEmptyDatabase } from '../../support/postgres/databases.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { until } from '../../support/until.ts'
import { dimeCatalog } from './dime.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

type Overview = { readonly books: { readonly is_writable: boolean } }
type Doctor = { readonly checks: readonly { readonly ok: boolean; readonly detail: string }[] }

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A gateway on a new database, and an account that it charges. */
async function setUp() {
  await farFromMidnight()
  const url = await anEmptyDatabase(server!)
  const sql = new SQL({ url, max: 1 })
  const gateway = await startTestGateway({
    catalog: JSON.stringify(dimeCatalog),
    environment: {
      TOLLGATE_DATABASE_URL: url,
      TOLLGATE_SECRET_KEY: randomBytes(32).toString('base64'),
    },
  })
  ends.push(
    () => sql.close(),
    () => gateway.stop(),
  )
  const ada = await gateway.account({ grant: '1' })
  const ask = () => gateway.chat(ada.key, { model: 'dime', messages: [{ role: 'user', content: 'Hello' }] })
  const ready = async () => {
    const response = await fetch(`${gateway.url}/health/ready`)
    return { status: response.status, text: await response.text() }
  }
  /** The partitions of this month and the next ones. */
  const partitions = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relname ~ '^charges_[0-9]{4}_[0-9]{2}$' ORDER BY relname`
  return { sql, gateway, ada, ask, ready, partitions: partitions.map(({ name }) => name) }
}

describe.skipIf(server === undefined)('a gateway whose database lacks a partition', () => {
  test('of the next month is not ready, and goes on with paid work', async () => {
    const { sql, gateway, ask, ready, partitions } = await setUp()

    await sql.unsafe(`DROP TABLE ${partitions[1]}`)
    const [{ status, text }, doctor, answer] = [
      await ready(),
      await gateway.admin<Doctor>('GET', 'doctor'),
      await ask(),
    ]
    await sql`SELECT add_partitions(3)`

    const problem = 'no partition for the charges of the next month, so they could not be written'
    expect([status, answer.status]).toEqual([503, 200])
    expect(text).toContain(problem)
    expect(doctor.checks.filter(({ ok }) => !ok).map(({ detail }) => detail)).toEqual([
      expect.stringContaining(problem),
    ])
    expect((await ready()).status).toBe(200)
  })

  test('of this month refuses paid work, and charges what ran once the partition is there', async () => {
    const { sql, gateway, ada, ask, ready, partitions } = await setUp()
    await ask()

    await sql.unsafe(`ALTER TABLE charges DETACH PARTITION ${partitions[0]}`)
    const running = ask()
    await until('the charge is not written', async () => {
      return !(await gateway.admin<Overview>('GET', 'overview')).books.is_writable
    })
    const refused = [(await ask()).status, (await ready()).status]
    await sql`SELECT add_partitions(3)`
    const { status } = await running
    await until('paid work is done again', async () => (await ask()).status === 200)

    expect([...refused, status]).toEqual([503, 503, 200])
    expect(await ada.balance()).toMatchObject({ available_usd: '0.7', held_usd: '0' })
    expect(await gateway.admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  })
})
