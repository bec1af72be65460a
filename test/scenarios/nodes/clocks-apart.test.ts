import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { systemClock } from '../../../src/http1/system-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { aDatabase } from '../../support/postgres/databases.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { clockOf } from '../../support/postgres/a-node.ts'
import { until } from '../../support/until.ts'

const server = await runServer()
const ends: (() => Promise<unknown>)[] = []
const MINUTE = 60_000

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Two gateways on one database: the clock of one is ten minutes slow, and that of the other ten minutes fast. */
async function setUp() {
  const url = await aDatabase(server!)
  const secretKey = randomBytes(32).toString('base64')
  const start = async (name: string, clock: Clock) => {
    const gateway = await startTestGateway({
      environment: {
        TOLLGATE_DATABASE_URL: url,
        TOLLGATE_SECRET_KEY: secretKey,
        TOLLGATE_NODE_NAME: name,
      },
      overrides: { clock },
    })
    ends.push(() => gateway.stop())
    return gateway
  }
  const sql = new SQL({ url, max: 1 })
  ends.push(() => sql.close())
  const slow = await start('slow', clockOf('slow', systemClock))
  const fast = await start('fast', clockOf('fast', systemClock))
  return { sql, slow, fast, ada: await slow.account({ grant: '5' }) }
}

const chat = (gateway: TestGateway, key: string) =>
  gateway.chat(key, { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] })

describe.skipIf(server === undefined)('gateways whose clocks are 20 minutes apart', () => {
  test('agree when a key expires, and when a request was made', async () => {
    const { sql, slow, fast, ada } = await setUp()
    const { data } = await slow.admin<{ data: { id: string }[] }>('GET', `accounts/${ada.id}/keys`)
    const soon = new Date(Date.now() + 5 * MINUTE).toISOString()
    await slow.admin('PATCH', `keys/${data[0]!.id}`, { expires_at: soon })
    await until('the other gateway knows the key', async () => (await chat(fast, ada.key)).status !== 401)

    const before = [(await chat(slow, ada.key)).status, (await chat(fast, ada.key)).status]
    const past = new Date(Date.now() - 5 * MINUTE).toISOString()
    await sql`UPDATE api_keys SET settings = jsonb_set(settings::jsonb, '{expires_at}', to_jsonb(${past}::text))::text`
    await sql`INSERT INTO access_changes DEFAULT VALUES`
    await until('the slow gateway refuses the key', async () => (await chat(slow, ada.key)).status === 401)
    await until('the fast gateway refuses the key', async () => (await chat(fast, ada.key)).status === 401)

    expect(before).toEqual([200, 200])
    const charged = await slow.admin<{ data: { created_at: string }[] }>('GET', 'usage')
    const offMs = charged.data.map(({ created_at: at }) => Math.abs(Date.parse(at) - Date.now()))
    expect(offMs.length).toBeGreaterThanOrEqual(3)
    expect(Math.max(...offMs)).toBeLessThan(2 * MINUTE)
  })

  test('say how far their clocks are off, and serve', async () => {
    const { slow, fast } = await setUp()
    type Node = { readonly name: string; readonly clock_offset_ms: number }
    const { data } = await fast.admin<{ data: Node[] }>('GET', 'nodes')
    type Doctor = { readonly checks: readonly { readonly name: string; readonly detail: string }[] }
    // The first measurement is as exact as the answer of the database is fast, and later ones make it exact.
    const measured = /^The clock of this machine is (599|600)\.\d s behind the database's\./
    await until('doctor has the offset', async () => {
      const { checks } = await slow.admin<Doctor>('GET', 'doctor')
      return measured.test(checks.find(({ name }) => name === 'clock')?.detail ?? '')
    })
    const ready = await fetch(`${slow.url}/health/ready`)

    const minutes = data.map(node => [node.name, Math.round(node.clock_offset_ms / MINUTE)])
    expect(minutes).toEqual([
      ['slow', -10],
      ['fast', 10],
    ])
    expect(ready.status).toBe(200)
  })
})
