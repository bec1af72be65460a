import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { aDataFolder } from '../../support/data-folder.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { aDatabase, anEmptyDatabase } from '../../support/postgres/databases.ts'
import { Proxy } from '../../support/postgres/proxy.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { dime, dimeCatalog } from './dime.ts'
import { until } from '../../support/until.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

/** Starts gateways in processes of their own on one new database. */
async function startNodes(names: readonly string[], settings: Record<string, string> = {}) {
  const database = settings['TOLLGATE_DATABASE_URL'] ?? (await aDatabase(server!))
  const keys = {
    TOLLGATE_SECRET_KEY: randomBytes(32).toString('base64'),
    TOLLGATE_ADMIN_KEY: 'the-admin-key',
  }
  const start = async (name: string, own: Record<string, string> = {}) => {
    const node = await startGatewayProcess(aDataFolder(), {
      TOLLGATE_DATABASE_URL: database,
      TOLLGATE_NODE_NAME: name,
      TOLLGATE_REPLAY_TTL_S: '0',
      ...keys,
      ...settings,
      ...own,
    })
    ends.push(() => node.kill())
    return node
  }
  return { database, start, nodes: await Promise.all(names.map(name => start(name))) }
}

async function admin(node: GatewayProcess, method: string, path: string, body?: object): Promise<Response> {
  const reply = await fetch(`${node.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${node.adminKey}`, 'idempotency-key': 'the-only-one' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${method} ${path}: ${await reply.text()}`)
  return reply
}

async function read<T>(node: GatewayProcess, path: string, method = 'GET'): Promise<T> {
  const reply = await admin(node, method, path, method === 'POST' ? {} : undefined)
  return (await reply.json()) as T
}

function chat(node: GatewayProcess, key: string): Promise<Response> {
  return fetch(`${node.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'dime', messages: [{ role: 'user', content: 'Hello' }] }),
  })
}

/** An account with money, and the text of a new key. */
async function aPayer(
  node: GatewayProcess,
  amount_usd = '5',
): Promise<{ readonly id: string; readonly key: string }> {
  await admin(node, 'PUT', 'catalog', dimeCatalog)
  await admin(node, 'POST', 'accounts', { name: 'ada' })
  await admin(node, 'POST', 'accounts/ada/grants', { amount_usd })
  const reply = await admin(node, 'POST', 'accounts/ada/keys', {})
  return (await reply.json()) as { readonly id: string; readonly key: string }
}

const available = async (node: GatewayProcess) =>
  (await read<{ available_usd: string }>(node, 'accounts/ada')).available_usd

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

describe.skipIf(server === undefined)('two gateways on one PostgreSQL database', () => {
  test('that start at once fill an empty database once', async () => {
    const { nodes } = await startNodes(['one', 'other'], {
      TOLLGATE_DATABASE_URL: await anEmptyDatabase(server!),
    })

    const { data } = await read<{ data: readonly { name: string }[] }>(nodes[0]!, 'accounts')
    const { data: keys } = await read<{ data: readonly object[] }>(nodes[1]!, 'accounts/demo/keys')
    await Promise.all(nodes.map(node => node.stop()))
    const shown = nodes.filter(({ output }) => output().includes('sandbox key'))

    expect([data.map(({ name }) => name), keys.length, shown.length]).toEqual([['demo'], 1, 1])
  })

  test('serve the accounts, keys and prices of each other, and follow an edit of the other', async () => {
    const { nodes } = await startNodes(['one', 'other'])
    const [one, other] = nodes as [GatewayProcess, GatewayProcess]
    const { id, key } = await aPayer(one)
    await until('the other gateway knows the key', async () => (await chat(other, key)).status === 200)
    await Promise.all(Array.from({ length: 10 }, (_, index) => chat(index % 2 === 0 ? one : other, key)))
    const listed = async () => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${other.url}/v1/models/dime`, { headers })).text()
    }
    const before = await listed()
    const costs: (string | null)[] = []
    const edits: Record<string, readonly [edit: () => Promise<unknown>, isSeen: () => Promise<boolean>]> = {
      price: [() => admin(one, 'PUT', 'models/dime', dime('0.01')), async () => (await listed()) !== before],
      limit: [
        async () => {
          costs.push((await chat(other, key)).headers.get('x-service-cost-usd'))
          await admin(one, 'PATCH', `keys/${id}`, { limits: { requests_per_minute: 1 } })
        },
        async () => (await chat(other, key)).status === 429,
      ],
      key: [
        () => admin(one, 'POST', `keys/${id}/revoke`),
        async () => (await chat(other, key)).status === 401,
      ],
    }

    const money = [await available(one), await available(other)]
    for (const [what, [edit, isSeen]] of Object.entries(edits)) {
      await edit()
      await until(`the other gateway follows the ${what}`, isSeen)
    }

    // 11 requests of 0.1 dollars, and then one of the new price.
    expect([...money, ...costs]).toEqual(['3.9', '3.9', '0.01'])
    expect((await chat(one, key)).status).toBe(401)
    expect(await read(one, 'verify', 'POST')).toMatchObject({ ok: true })
  })

  test('follow an edit of the other within a second', async () => {
    const clock = fakeClock()
    const environment = {
      TOLLGATE_DATABASE_URL: await aDatabase(server!),
      TOLLGATE_SECRET_KEY: randomBytes(32).toString('base64'),
    }
    const start = async (name: string, overrides: { readonly clock?: Clock } = {}) => {
      const named = { ...environment, TOLLGATE_NODE_NAME: name }
      const gateway = await startTestGateway({ environment: named, overrides })
      ends.push(() => gateway.stop())
      return gateway
    }
    const [one, other] = [await start('one'), await start('other', { clock })]
    const { id: account, key } = await one.account()
    const { data } = await one.admin<{ data: readonly { id: string }[] }>('GET', `accounts/${account}/keys`)
    const path = `keys/${data[0]!.id}`
    const ask = async () => {
      const messages = [{ role: 'user', content: 'Hello' }]
      return (await other.chat(key, { model: 'sandbox-chat', messages })).status
    }
    /** A second passes only once. */
    const follows = async (what: string, isSeen: () => Promise<boolean>) => {
      clock.advance(1000)
      await until(`the other gateway follows the ${what}`, isSeen)
    }
    const listed = async () =>
      (await fetch(`${other.url}/v1/models/sandbox-chat`, { headers: { 'x-api-key': key } })).status

    await follows('new key', async () => (await ask()) === 200)
    expect(await listed()).toBe(200)
    await one.admin('PATCH', 'models/sandbox-chat', { enabled: false })
    await follows('model', async () => (await listed()) === 404)
    await one.admin('PATCH', 'models/sandbox-chat', { enabled: true })
    await follows('model again', async () => (await listed()) === 200)
    await one.admin('PATCH', path, { limits: { requests_per_minute: 1 } })
    await follows('limit', async () => (await ask()) === 429)
    await one.admin('POST', `${path}/revoke`)
    await follows('revocation', async () => (await ask()) === 401)
  })

  test('go on when one of them is killed, with exact balances and sound books', async () => {
    const { database, start } = await startNodes([])
    const proxy = Proxy.to(database)
    ends.push(() => proxy.stop())
    const one = await start('one', { TOLLGATE_DATABASE_URL: proxy.url(database) })
    const other = await start('other')
    const { key } = await aPayer(one)
    await until('the other gateway knows the key', async () => (await chat(other, key)).status === 200)
    const cut = Array.from({ length: 8 }, () => chat(one, key).catch(() => undefined))
    await cut[0]

    await one.kill()
    // The database still does what the gateway had sent to it.
    await proxy.quiet()
    const answered = (await Promise.all(cut)).filter(reply => reply?.status === 200).length
    const replies = await Promise.all(Array.from({ length: 5 }, () => chat(other, key)))

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const account = await read<{ available_usd: string; held_usd: string }>(other, 'accounts/ada')
    const { data: charges } = await read<{ data: readonly object[] }>(other, 'usage?account=ada&limit=500')
    const spent = 5 - Number(account.available_usd) - Number(account.held_usd)
    expect(spent).toBeCloseTo(charges.length / 10, 9)
    expect(charges.length).toBeGreaterThanOrEqual(1 + answered + replies.length)
    expect(await read(other, 'verify', 'POST')).toMatchObject({ ok: true })
    const { data } = await read<{ data: readonly { name: string }[] }>(other, 'nodes')
    expect(data.map(({ name }) => name).sort()).toEqual(['one', 'other'])
  })

  test('one checks the books for both, and a problem that an operator of one finds stops the account on both', async () => {
    const { database, nodes } = await startNodes(['one', 'two'])
    const [one, two] = nodes as [GatewayProcess, GatewayProcess]
    const metrics = async (node: GatewayProcess) => {
      const headers = { authorization: `Bearer ${node.adminKey}` }
      return (await fetch(`${node.url}/metrics`, { headers })).text()
    }
    const isChecked = async (node: GatewayProcess) =>
      /^tollgate_ledger_checked_timestamp_seconds [1-9]/m.test(await metrics(node))
    await until('both know a result', async () => (await isChecked(one)) && isChecked(two))
    const checks = (await Promise.all([one, two].map(metrics))).join('\n').match(/checks_total\{.*\} \d+/g)
    // More than it spends until the other one stops it.
    const { key } = await aPayer(one, '500')
    const sql = new SQL({ url: database, max: 1 })
    ends.push(() => sql.close())
    await sql`UPDATE balances SET losses = 7 WHERE account_id = (SELECT id FROM accounts WHERE name = 'ada')`
    const statuses = () => Promise.all([one, two].map(async node => (await chat(node, key)).status))

    const found = await (await admin(one, 'POST', 'verify', {})).json()
    const { problems } = found as { problems: { id: string }[] }
    await until('the other one stops the account', async () => (await chat(two, key)).status === 503)
    const stopped = await statuses()
    await admin(two, 'POST', 'verify', { accept: problems[0]!.id, reason: 'a test edit' })
    await until('the first one serves again', async () => (await chat(one, key)).status === 200)

    expect(checks).toEqual(['checks_total{result="sound"} 1'])
    expect(stopped).toEqual([503, 503])
    expect(await statuses()).toEqual([200, 200])
  })

  test('a gateway that was stopped is not listed, and the next one takes its lane', async () => {
    const { nodes, start } = await startNodes(['one', 'other'])
    const [one, other] = nodes as [GatewayProcess, GatewayProcess]
    const lanesOf = async () => {
      type Listed = { readonly name: string; readonly lane: number; readonly epoch: number }
      const { data } = await read<{ data: readonly Listed[] }>(other, 'nodes')
      return data.map(({ name, lane, epoch }) => ({ name, lane, epoch }))
    }
    const before = await lanesOf()

    await one.stop()
    const left = await lanesOf()
    await start('next')

    const freed = before.find(({ name }) => name === 'one')!
    expect(left).toEqual(before.filter(({ name }) => name === 'other'))
    expect(await lanesOf()).toContainEqual({ name: 'next', lane: freed.lane, epoch: freed.epoch + 1 })
  })

  test('a gateway with another secret key does not start', async () => {
    const { start } = await startNodes(['one'])

    const error = await start('other', { TOLLGATE_SECRET_KEY: randomBytes(32).toString('base64') }).catch(
      String,
    )

    expect(error).toContain(
      'encrypted under another secret key. Set TOLLGATE_SECRET_KEY to the key of the other',
    )
  })
})
