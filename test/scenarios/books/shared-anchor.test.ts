import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { aCopyOf, aDatabase } from '../../support/postgres/databases.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { startS3Server } from '../../support/s3-server.ts'
import { until } from '../../support/until.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

const SETTINGS = {
  TOLLGATE_SECRET_KEY: randomBytes(32).toString('base64'),
  TOLLGATE_ADMIN_KEY: 'tg_admin_for_tests',
  TOLLGATE_REPLAY_TTL_S: '0',
}

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function setUp() {
  const storage = await startS3Server()
  ends.push(() => storage.stop())
  const start = async (database: string) => {
    const environment = { ...SETTINGS, ...storage.environment, TOLLGATE_DATABASE_URL: database }
    const gateway = await startGatewayProcess(aDataFolder(), environment)
    ends.push(() => gateway.kill())
    return gateway
  }
  const anchored = () => {
    const object = storage.objects.get('anchor.json')
    if (object === undefined) return []
    const { chains } = JSON.parse(object.bytes.toString()) as { chains: { node: string; number: number }[] }
    return chains
  }
  return { url: await aDatabase(server!), start, anchored }
}

async function admin<Answer>(gateway: GatewayProcess, path: string, body: object): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

async function chat(gateway: GatewayProcess, key: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await response.text()
  return response.status
}

describe.skipIf(server === undefined)('two gateways with a bucket', () => {
  test('two gateways with a bucket anchor each other, and a gateway on an older copy of their database sells nothing until the loss is accepted', async () => {
    const { url, start, anchored } = await setUp()
    const first = await start(url)
    await admin(first, 'accounts', { name: 'ada' })
    await admin(first, 'accounts/ada/grants', { amount_usd: '5' })
    const { key } = await admin<{ key: string }>(first, 'accounts/ada/keys', {})
    expect(await first.stop()).toBe(0)
    const backup = await aCopyOf(url, server!)
    const [one, other] = [await start(url), await start(url)]
    for (const gateway of [one, other, one, other]) expect(await chat(gateway, key)).toBe(200)
    await until('both lanes are anchored', () => anchored().length === 2)
    // Both ends are also written when the gateways stop.
    await other.stop()
    await one.stop()

    const restored = await start(backup)
    const refused = await chat(restored, key)
    const found = await admin<{ problems: readonly { id: string; message: string }[] }>(
      restored,
      'verify',
      {},
    )
    await admin(restored, 'verify', { accept_loss: 'the server burned down' })

    expect(refused).toBe(503)
    expect(found.problems.map(({ id }) => id)).toEqual(['anchor'])
    expect(found.problems[0]!.message).toMatch(
      /^The anchor s3:\/\/results\/anchor\.json does not match the books: it names commit \d+ of node "lane-1", but the books end at commit \d+: \d+ commits are lost/,
    )
    expect(await chat(restored, key)).toBe(200)
  })
})
